"""Whose a file is: the tests', or the code's, by the paths of a whole revision alone.

Tests have: folders named for them, wherever they lie, with all that is in them; files that pytest
collects by their names, or that hold fixtures. Some names mean the one or the other, since packages
offer to others what is to be tested with (`click.testing`, `django.test`) or have a part of that name
(`jinja2.tests`): a folder `testing`, and a folder `test` in a package, are theirs only if such files lie
below it; `test.py` and `tests.py` in a package are the code's where a test file is named for them
(`test_tests.py`). Settings of pytest belong to the code, as POMs do in Java.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

_FOLDERS = frozenset({'tests', '_tests', 'unit_test', 'unit_tests', 'unittests'})
_IN_PACKAGES_DOUBTFUL = 'test'
_DOUBTFUL = 'testing'
_FILE = re.compile(r'(test_[^/]*|[^/]*_test|tests?|conftest)\.py')
_DOUBTFUL_FILES = ('test.py', 'tests.py')


def select_test_paths(paths: Collection[str]) -> frozenset[str]:
    """Those of a revision's paths that belong to its tests."""
    folders, code = (
        frozenset(_find_testing_folders(paths)),
        frozenset(_find_modules_named_like_tests(paths)),
    )
    return frozenset(
        path for path in paths if path not in code and _belongs_to_tests(path, folders)
    )


def is_test_file(path: str) -> bool:
    """Whether a file is named as those are that pytest or unittest collects, or is a conftest."""
    return _FILE.fullmatch(path.rpartition('/')[2]) is not None


def _belongs_to_tests(path: str, testing: frozenset[str]) -> bool:
    if is_test_file(path):
        return True
    parents = PurePosixPath(path).parents
    return any(folder.name in _FOLDERS or str(folder) in testing for folder in parents)


def _find_testing_folders(paths: Collection[str]) -> Iterator[str]:
    """Folders of the doubtful names that are the tests'."""
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if folder.name == _IN_PACKAGES_DOUBTFUL:
                in_package = str(folder.parent / '__init__.py') in paths
                if is_test_file(path) or not in_package:
                    yield str(folder)
        folder = PurePosixPath(path).parent
        if folder.name == _DOUBTFUL and is_test_file(path):
            yield str(folder)


def _find_modules_named_like_tests(paths: Collection[str]) -> Iterator[str]:
    """Modules of packages that have the name of a test file, and a test file of their own."""
    names = {path.rpartition('/')[2] for path in paths}
    for path in paths:
        folder, _, name = path.rpartition('/')
        if name in _DOUBTFUL_FILES and f'{folder}/__init__.py' in paths:
            stem = name.removesuffix('.py')
            parents = PurePosixPath(folder).parts
            if not _FOLDERS.intersection(parents) and names & {f'test_{name}', f'{stem}_test.py'}:
                yield path
