"""Classifies files by their paths alone; `trees` also uses the rest of the revision."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from coevo.languages.declarations import SourceFile
from coevo.languages.reading import PathClassification, Side

TEST_SUFFIX = '_test.go'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoFile(SourceFile):
    """A parsed Go file.

    runs  whether `go test` looks for tests in it; True for a text without a path
    """

    runs: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GoFileHead:
    """Package clause and imports of a Go file.

    package  the name in the package clause; '' if there is none
    imports  the paths of the imports, in order
    """

    package: str
    imports: tuple[str, ...]


def may_declare_tests(path: str) -> bool:
    """Return whether the go tool looks for tests in a file: only if its name ends in `_test.go`.

    True, too, for ''. See https://pkg.go.dev/cmd/go#hdr-Test_packages.
    """
    return not path or path.endswith(TEST_SUFFIX)


SUFFIX = '.go'
# What the go command puts into a package beside Go, without C: assembly, its headers, and objects.
ASSEMBLED = ('.s', '.h', '.syso')
TESTDATA = 'testdata'
VENDOR = 'vendor'
GO_MOD, GO_WORK = 'go.mod', 'go.work'
_BUILD_FILES = frozenset({GO_MOD, 'go.sum', GO_WORK, 'go.work.sum'})
VENDORED = 'vendor/modules.txt'
# The flag of the go command for a module whose libraries are those of its folder `vendor`.
VENDORING = '-mod=vendor'


def classify_path(path: str) -> PathClassification | None:
    """Return whether a path is of code or tests, and whether it is a resource (no Go file).

    None for a build file, and for another file at the root that is neither compiled nor of tests,
    such as a licence.
    """
    side = Side.TEST if is_test_path(path) else Side.SOURCE
    is_resource = not is_go_package_file(path)
    if is_resource and side is Side.SOURCE and ('/' not in path or is_build_file(path)):
        return None
    return PathClassification(
        side=side, is_resource=is_resource, relative=find_path_opened_by_test(path)
    )


def is_build_file(path: str) -> bool:
    """Return whether a file is a go.mod, go.sum, go.work, go.work.sum or `vendor/modules.txt`.

    These determine how a revision is built. They may lie in any folder.
    """
    name = path.rpartition('/')[2]
    return name in _BUILD_FILES or path == VENDORED or path.endswith(f'/{VENDORED}')


def is_test_path(path: str) -> bool:
    """Return whether a file is a test file or lies below `testdata`; vendored files are code."""
    folders = path.split('/')[:-1]
    if VENDOR in folders:
        return False
    return path.endswith(TEST_SUFFIX) or TESTDATA in folders


def is_go_package_file(path: str) -> bool:
    """Return whether a path is of a Go file that the go tool considers part of a package.

    Test files are. Files and folders that begin with `_` or `.`, and folders `testdata`, are not.
    See https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns.
    """
    *folders, name = path.split('/')
    if not name.endswith(SUFFIX) or name.startswith(('_', '.')):
        return False
    return not any(_is_ignored_folder(folder) for folder in folders)


def _is_ignored_folder(folder: str) -> bool:
    return folder == TESTDATA or folder.startswith(('_', '.'))


def find_path_opened_by_test(path: str) -> str:
    """Return the path by which a test opens a file: from `testdata` on, else the mere file name.

    A test runs in the folder of its package, which is above `testdata`.
    """
    parts = PurePosixPath(path).parts
    if TESTDATA in parts:
        return '/'.join(parts[parts.index(TESTDATA) :])
    return path.rpartition('/')[2]


# Finds packages that serve tests alone: no other program may import them, and no code here does.
#
# Only packages below a folder `internal` cannot be imported from elsewhere
# (https://pkg.go.dev/cmd/go#hdr-Internal_Directories); for others the name decides.

_INTERNAL = 'internal'
_NAMED = re.compile(
    r'tests?|testing|_?test[-_]?(?:util|utils|help|helper|helpers|ing|lib|common|support)|.+test(?:s|util|utils|ing)?'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportEdge:
    """An import of one package of the revision by another, both given by their folders.

    by_test  whether the import is in a test file
    """

    importer: str
    imported: str
    by_test: bool


def may_be_test_only_package(folder: str) -> bool:
    """Return whether the path of a package folder suggests that it serves tests alone.

    That is so below a folder `internal`, and for a name such as `testutil`.
    """
    parts = folder.split('/')
    return _INTERNAL in parts or _NAMED.fullmatch(parts[-1]) is not None


def find_test_only_packages(
    candidates: frozenset[str], graph: Iterable[ImportEdge]
) -> frozenset[str]:
    """Return the folders of the packages that serve tests alone.

    These are candidates that test files import, directly or through other such packages, and that
    no other code imports.

    graph  all imports between packages of the revision
    """
    edges = list(graph)
    packages = candidates & {edge.imported for edge in edges}
    while True:
        used = {
            edge.imported for edge in edges if not edge.by_test and edge.importer not in packages
        }
        if packages.isdisjoint(used):
            break
        packages -= used
    return packages & _find_reached_by_tests(packages, edges)


def _find_reached_by_tests(found: frozenset[str], edges: Iterable[ImportEdge]) -> frozenset[str]:
    """Return the packages in `found` that test files import, directly or through each other."""
    known = list(edges)
    reached: set[str] = set()
    while True:
        more = {
            edge.imported
            for edge in known
            if edge.imported in found and (edge.by_test or edge.importer in reached)
        }
        if more <= reached:
            return frozenset(reached)
        reached |= more
