"""Whose a file is, as far as its path alone tells; a whole revision tells more (`trees`)."""

from __future__ import annotations

from pathlib import PurePosixPath

from coevo.languages.golang.reading.files import TEST_SUFFIX
from coevo.languages.layout import PathClassification, Side

SUFFIX = '.go'
TESTDATA = 'testdata'
VENDOR = 'vendor'
GO_MOD, GO_WORK = 'go.mod', 'go.work'
_BUILD_FILES = frozenset({GO_MOD, 'go.sum', GO_WORK, 'go.work.sum'})
_VENDORED = 'vendor/modules.txt'


def classify_path(path: str) -> PathClassification | None:
    """None for what lies beside the packages of a project: its README, its licence."""
    side = Side.TEST if is_test_path(path) else Side.SOURCE
    is_resource = not is_compiled(path)
    if is_resource and side is Side.SOURCE and ('/' not in path or is_build_file(path)):
        return None
    return PathClassification(side=side, is_resource=is_resource, relative=find_relative_name(path))


def is_build_file(path: str) -> bool:
    name = path.rpartition('/')[2]
    return name in _BUILD_FILES or path == _VENDORED or path.endswith(f'/{_VENDORED}')


def is_test_path(path: str) -> bool:
    """Test files, and all below a folder `testdata`; what is vendored belongs to the code."""
    folders = path.split('/')[:-1]
    if VENDOR in folders:
        return False
    return path.endswith(TEST_SUFFIX) or TESTDATA in folders


def is_compiled(path: str) -> bool:
    """Whether the go tool takes a file for one of a package (https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns)."""
    *folders, name = path.split('/')
    if not name.endswith(SUFFIX) or name.startswith(('_', '.')):
        return False
    return not any(_is_ignored_folder(folder) for folder in folders)


def _is_ignored_folder(folder: str) -> bool:
    return folder == TESTDATA or folder.startswith(('_', '.'))


def find_relative_name(path: str) -> str:
    """How a test names a file: it runs in the folder of its package, above `testdata`."""
    parts = PurePosixPath(path).parts
    if TESTDATA in parts:
        return '/'.join(parts[parts.index(TESTDATA) :])
    return path.rpartition('/')[2]
