"""Whose a file is: the tests', or the code's, by the paths of a whole revision alone.

Tests have: folders named for them, wherever they lie, with all that is in them; files that pytest
collects by their names, or that hold fixtures. A folder `testing` is theirs only if it has such files,
since packages offer `pkg.testing` to others (click, numpy). Settings of pytest belong to the code, as
POMs do in Java.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Iterator
from pathlib import PurePosixPath

_FOLDERS = frozenset({'test', 'tests', '_tests', 'unit_test', 'unit_tests', 'unittests'})
_DOUBTFUL = 'testing'
_FILE = re.compile(r'(test_[^/]*|[^/]*_test|tests?|conftest)\.py')


def tests_side(paths: Collection[str]) -> frozenset[str]:
    """Those of a revision's paths that belong to its tests."""
    folders = frozenset(_testing_folders(paths))
    return frozenset(path for path in paths if _is_theirs(path, folders))


def is_test_file(path: str) -> bool:
    """Whether a file is named as those are that pytest or unittest collects, or is a conftest."""
    return _FILE.fullmatch(path.rpartition('/')[2]) is not None


def _is_theirs(path: str, testing: frozenset[str]) -> bool:
    if is_test_file(path):
        return True
    parents = PurePosixPath(path).parents
    return any(folder.name in _FOLDERS or str(folder) in testing for folder in parents)


def _testing_folders(paths: Collection[str]) -> Iterator[str]:
    """Folders of the doubtful name that have a test file right in them."""
    for path in paths:
        folder = PurePosixPath(path).parent
        if folder.name == _DOUBTFUL and is_test_file(path):
            yield str(folder)
