"""Find the names of test files that the settings of a revision add to the usual ones.

`python_files` and `testpaths` of pytest: https://docs.pytest.org/en/stable/reference/reference.html
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator

from coevo.languages.python.reading.collection import DEFAULT, SETTINGS, parse_rules
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.sides import TestNames

# A pattern such as `*.py` matches the code, too; one with so many letters of its own names tests.
_LEAST_LETTERS = 3


def find_test_names(paths: Collection[str], read: Callable[[str], bytes]) -> TestNames:
    """Return the names and folders of test files that the pytest settings of all projects state.

    Patterns that match the code, too, such as `*.py`, and folders with other modules are left out.

    paths  of all files of a revision
    read   returns the content of one of the paths
    """
    patterns: dict[str, None] = {}
    folders: dict[str, None] = {}
    projects = {
        posixpath.dirname(path) for path in paths if posixpath.basename(path) in BUILD_FILES
    }
    for project in sorted({'', *projects}):
        for name in SETTINGS:
            path = posixpath.join(project, name)
            rules = parse_rules(name, read(path)) if path in paths else None
            if rules is not None:
                patterns |= dict.fromkeys(_select_patterns(rules.files))
                folders |= dict.fromkeys(
                    posixpath.normpath(posixpath.join(project, folder)) for folder in rules.folders
                )
                break
    named = tuple(patterns)
    return TestNames(
        patterns=named,
        folders=tuple(folder for folder in folders if _holds_tests_alone(folder, paths, named)),
    )


def _select_patterns(patterns: Collection[str]) -> Iterator[str]:
    for pattern in patterns:
        letters = sum(map(str.isalpha, posixpath.basename(pattern).removesuffix('.py')))
        if pattern not in DEFAULT.files and letters >= _LEAST_LETTERS:
            yield pattern


def _holds_tests_alone(folder: str, paths: Collection[str], patterns: tuple[str, ...]) -> bool:
    """Return whether a folder itself has modules, each of them named as a test file."""
    names = TestNames(patterns=patterns)
    modules = [path for path in paths if posixpath.dirname(path) == folder and path.endswith('.py')]
    return folder != '.' and bool(modules) and all(map(names.is_test_file, modules))
