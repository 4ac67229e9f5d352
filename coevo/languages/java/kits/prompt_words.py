"""The parts of prompts that are specific to Java (TestEvo-Bench, A.3).

They name Maven or Gradle, JUnit and its console launcher; `$JUNIT_CONSOLE_JAR` is the path of the
launcher's jar.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from coevo.languages.java.gradle.attempts import (
    is_built_by_gradle,
    make_gradle_command,
    make_test_selection,
)
from coevo.languages.kits import PromptWords
from coevo.model.environments import Environment
from coevo.model.records import TestMethod

_JAR = '$JUNIT_CONSOLE_JAR'


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    """Return the parts of a prompt that are specific to Java, for Gradle or else for Maven.

    `methods` are the tests to run, by the classes that run them; if there are none, the prompt has
    a placeholder.
    """
    by_gradle = is_built_by_gradle(environment)
    where = '' if module == '.' else f'cd {module} && '
    running = (
        (_describe_gradle_run(module, methods),)
        if by_gradle
        else (_describe_console_run(where, methods), _SETTINGS)
    )
    return PromptWords(
        framework='JUnit',
        new_test='Annotate with @Test and return void.',
        new_file='the appropriate package declaration and imports',
        running=running,
        side_effects=f'{"Gradle" if by_gradle else "Maven"}/license-header side effects',
    )


_SETTINGS = (
    'If `MAVEN_SETTINGS_PATH` is set in the shell, pass `-s "$MAVEN_SETTINGS_PATH"` to Maven commands'
    ' so dependency downloads use the configured cache.'
)


def _describe_console_run(cd: str, methods: Sequence[TestMethod]) -> str:
    names = dict.fromkeys(map(_format_method, methods))
    selected = ' '.join(f"--select-method '{name}'" for name in names)
    selected = selected or "--select-class '<test class>'"
    return f"""\
When done, ensure the tests compile and pass with the JUnit Console Launcher:
- Compile: `{cd}mvn test-compile`
- Run with the JUnit Console Launcher (jar at `{_JAR}`). Set `--class-path` to include the project's \
compiled classes and dependencies, then invoke:
`{cd}java -jar {_JAR} --class-path "<classpath>" --reports-dir ./test-reports {selected}`"""


def _describe_gradle_run(module: str, methods: Sequence[TestMethod]) -> str:
    selected = make_test_selection(methods) or ('--tests', '<test class>')
    compiling = shlex.join(make_gradle_command(module, 'testClasses'))
    running = shlex.join((*make_gradle_command(module, 'test'), *selected))
    return f"""\
When done, ensure the tests compile and pass:
- Compile: `{compiling}`
- Run: `{running}`"""


def _format_method(method: TestMethod) -> str:
    """Return PACKAGE.CLASS#METHOD(TYPES) for JUnit's console, with a binary class name.

    The parentheses are left out if the method has no parameters.
    """
    parameters = f'({", ".join(method.parameters)})' if method.parameters else ''
    return f'{method.test_class}#{method.test_method}{parameters}'
