"""The prompt of a task, the same bytes for every agent (TestEvo-Bench, A.3).

Those of update and generation are the paper's own. It has none for repair: that one is ours. Where the
paper's text names JUnit's console launcher, `$JUNIT_CONSOLE_JAR` stands for the place of its jar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from coevo.records import Dependency
from coevo.records import Track

# Changes with every change of a text or of how its blanks are filled.
VERSION = 'coevo-1'

NONE_KNOWN = '- (none was recorded)'


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a prompt says of a task.

    test_methods  CLASS#METHOD as the task lists them
    selectors     PACKAGE.CLASS#METHOD of the same, binary names, for JUnit's console launcher
    module        folder of the module, '.' for the root
    """

    track: Track
    new_rev: str
    module: str
    test_file: str
    test_methods: Sequence[str]
    selectors: Sequence[str]
    dependencies: Sequence[Dependency]


def prompt(subject: Subject) -> str:
    """The whole prompt, a newline at its end."""
    text = files('coevo').joinpath('prompts', f'{subject.track}.txt').read_text('utf-8')
    blanks = {
        '<commit_sha>': subject.new_rev,
        '<test_file>': subject.test_file,
        '<test_methods>': '\n'.join(f'- {name}' for name in subject.test_methods),
        '<deps_section>': '\n'.join(dependency_lines(subject.dependencies)) or NONE_KNOWN,
        '<cd_prefix>': '' if subject.module == '.' else f'cd {subject.module} && ',
        '<junit_jar>': '$JUNIT_CONSOLE_JAR',
        '<junit_method_args>': ' '.join(f"--select-method '{name}'" for name in subject.selectors),
    }
    # At once, since a declaration may hold what looks like a blank.
    return re.sub('|'.join(map(re.escape, blanks)), lambda found: blanks[found[0]], text)


def dependency_lines(dependencies: Iterable[Dependency]) -> tuple[str, ...]:
    """The bullet list of changed production methods: without doubles, in a stable order.

    One line each: "- modified `public String toString()` in `core/src/main/java/p/Status.java`".
    """
    return tuple(
        sorted(
            {
                f'- {dependency.revised} `{dependency.declaration}` in `{dependency.file}`'
                for dependency in dependencies
                if dependency.is_method
            }
        )
    )
