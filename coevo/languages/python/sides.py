"""Decide whether a file belongs to the tests or to the code, by its path and by the settings of the
revision.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from coevo.languages.python.reading.collection import DEFAULT, SETTINGS, parse_rules
from coevo.languages.python.requirements.reading import BUILD_FILES

_FOLDERS = frozenset({'tests', '_tests', 'unit_test', 'unit_tests', 'unittests'})
_IN_PACKAGES_DOUBTFUL = 'test'
_DOUBTFUL = 'testing'
_FILE = re.compile(r'(test_[^/]*|[^/]*_test|tests?|conftest)\.py')
_DOUBTFUL_FILES = ('test.py', 'tests.py')


@dataclass(frozen=True, slots=True, kw_only=True)
class TestNames:
    """The names of test files that the settings of a revision add to the usual ones.

    patterns  globs of the names of test files, beside the usual names
    folders   folders of tests whose names do not say so
    """

    __test__ = False

    patterns: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is named as pytest or unittest collects it, or is a conftest."""
        name = path.rpartition('/')[2]
        return _FILE.fullmatch(name) is not None or any(
            fnmatchcase(path, f'*{pattern}') if '/' in pattern else fnmatchcase(name, pattern)
            for pattern in self.patterns
        )

    def is_in_test_folder(self, path: str) -> bool:
        """Return whether a path lies in or below one of the folders."""
        return path.startswith(tuple(f'{folder}/' for folder in self.folders))


USUAL = TestNames()


def select_test_paths(paths: Collection[str], names: TestNames = USUAL) -> frozenset[str]:
    """Return those paths of a revision that belong to its tests; all others belong to the code.

    paths  of all files of the revision
    names  what its settings say
    """
    folders, code = (
        frozenset(_find_ambiguous_test_folders(paths)),
        frozenset(_find_code_named_like_tests(paths)),
    )
    return frozenset(
        path for path in paths if path not in code and _belongs_to_tests(path, folders, names)
    )


def _belongs_to_tests(path: str, testing: frozenset[str], names: TestNames) -> bool:
    if names.is_test_file(path) or names.is_in_test_folder(path):
        return True
    parents = PurePosixPath(path).parents
    return any(folder.name in _FOLDERS or str(folder) in testing for folder in parents)


def _find_ambiguous_test_folders(paths: Collection[str]) -> Iterator[str]:
    """Yield the folders with an ambiguous name that belong to the tests."""
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if folder.name == _IN_PACKAGES_DOUBTFUL:
                in_package = str(folder.parent / '__init__.py') in paths
                if USUAL.is_test_file(path) or not in_package:
                    yield str(folder)
        folder = PurePosixPath(path).parent
        if folder.name == _DOUBTFUL and USUAL.is_test_file(path):
            yield str(folder)


def _find_code_named_like_tests(paths: Collection[str]) -> Iterator[str]:
    """Yield modules of packages that are named like test files but have their own test file."""
    names = {path.rpartition('/')[2] for path in paths}
    for path in paths:
        folder, _, name = path.rpartition('/')
        if name in _DOUBTFUL_FILES and f'{folder}/__init__.py' in paths:
            stem = name.removesuffix('.py')
            parents = PurePosixPath(folder).parts
            if not _FOLDERS.intersection(parents) and names & {f'test_{name}', f'{stem}_test.py'}:
                yield path


# Find the names of test files that the settings of a revision add to the usual ones.
#
# `python_files` and `testpaths` of pytest:
# https://docs.pytest.org/en/stable/reference/reference.html

# A pattern such as `*.py` matches the code, too; one with so many letters of its own names tests.
_LEAST_LETTERS = 3


def find_test_file_names(paths: Collection[str], read: Callable[[str], bytes]) -> TestNames:
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
                patterns |= dict.fromkeys(_select_specific_patterns(rules.files))
                folders |= dict.fromkeys(
                    posixpath.normpath(posixpath.join(project, folder)) for folder in rules.folders
                )
                break
    named = tuple(patterns)
    return TestNames(
        patterns=named,
        folders=tuple(folder for folder in folders if _holds_tests_alone(folder, paths, named)),
    )


def _select_specific_patterns(patterns: Collection[str]) -> Iterator[str]:
    for pattern in patterns:
        letters = sum(map(str.isalpha, posixpath.basename(pattern).removesuffix('.py')))
        if pattern not in DEFAULT.files and letters >= _LEAST_LETTERS:
            yield pattern


def _holds_tests_alone(folder: str, paths: Collection[str], patterns: tuple[str, ...]) -> bool:
    """Return whether a folder itself has modules, each of them named as a test file."""
    names = TestNames(patterns=patterns)
    modules = [path for path in paths if posixpath.dirname(path) == folder and path.endswith('.py')]
    return folder != '.' and bool(modules) and all(map(names.is_test_file, modules))
