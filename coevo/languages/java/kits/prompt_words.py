"""What agents are told of Java: Maven, JUnit and its console launcher (TestEvo-Bench, A.3).

Where the paper's text names the launcher, `$JUNIT_CONSOLE_JAR` stands for the place of its jar.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.prompt_words import PromptWords
from coevo.model.records import TestMethod

_JAR = '$JUNIT_CONSOLE_JAR'


def prompt_words(module: str, test_file: str, methods: Sequence[TestMethod]) -> PromptWords:
    """`methods` by the names under which they are to be run."""
    return PromptWords(
        framework='JUnit',
        new_test='Annotate with @Test and return void.',
        new_file='the appropriate package declaration and imports',
        running=(_running('' if module == '.' else f'cd {module} && ', methods), _SETTINGS),
        side_effects='Maven/license-header side effects',
    )


_SETTINGS = (
    'If `MAVEN_SETTINGS_PATH` is set in the shell, pass `-s "$MAVEN_SETTINGS_PATH"` to Maven commands'
    ' so dependency downloads use the configured cache.'
)


def _running(cd: str, methods: Sequence[TestMethod]) -> str:
    names = dict.fromkeys(map(_name, methods))
    selected = ' '.join(f"--select-method '{name}'" for name in names)
    selected = selected or "--select-class '<test class>'"
    return f"""\
When done, ensure the tests compile and pass with the JUnit Console Launcher:
- Compile: `{cd}mvn test-compile`
- Run with the JUnit Console Launcher (jar at `{_JAR}`). Set `--class-path` to include the project's \
compiled classes and dependencies, then invoke:
`{cd}java -jar {_JAR} --class-path "<classpath>" --reports-dir ./test-reports {selected}`"""


def _name(method: TestMethod) -> str:
    """PACKAGE.CLASS#METHOD, a binary name; parameters tell overloads apart."""
    parameters = f'({", ".join(method.parameters)})' if method.parameters else ''
    return f'{method.test_class}#{method.test_method}{parameters}'
