"""List the test methods of a revision: all by module, and those near a given one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile, zip_longest
from pathlib import PurePosixPath

from coevo.git.repository import Repository
from coevo.languages.reading import Side
from coevo.languages.table import detect_file_language
from coevo.model.records import TestMethod
from miners.diffs.contexts import load_test_tree

# The maximal number of neighbours of each kind: one that passes is enough.
SIBLINGS = 8


def group_methods_by_module(
    repository: Repository, rev: str, language: str
) -> Mapping[str, tuple[TestMethod, ...]]:
    """Return all test methods that a revision declares, by module.

    Within a module they are in the order of files and text.
    """
    by_module: dict[str, list[TestMethod]] = {}
    tests = load_test_tree(repository, rev, language)
    for path in tests.tree.list_paths(Side.TEST):
        for test in tests.list_tests(path):
            by_module.setdefault(test.method.module, []).append(test.method)
    return {module: tuple(methods) for module, methods in sorted(by_module.items())}


def find_siblings(
    repository: Repository, rev: str, method: TestMethod
) -> Iterator[tuple[TestMethod, ...]]:
    """Yield three groups of other test methods: of the same class, file and module.

    Each group has at most `SIBLINGS` methods, and is computed on demand. Those of the module come
    in turns from the nearest files.
    """
    tests = load_test_tree(repository, rev, detect_file_language(method.test_file))
    own = [test.method for test in tests.list_tests(method.test_file) if test.method != method]
    yield tuple(m for m in own if m.test_class == method.test_class)[:SIBLINGS]
    yield tuple(m for m in own if m.test_class != method.test_class)[:SIBLINGS]
    paths = [
        path
        for path in tests.tree.list_paths(Side.TEST)
        if path != method.test_file and tests.tree.find_module_folder(path) == method.module
    ]
    paths.sort(key=lambda path: (-_count_shared_folders(path, method.test_file), path))
    nearest = islice(
        (file_tests for path in paths if (file_tests := tests.list_tests(path))), SIBLINGS
    )
    turns = chain.from_iterable(zip_longest(*nearest))
    yield tuple(islice((test.method for test in turns if test is not None), SIBLINGS))


def _count_shared_folders(path: str, other: str) -> int:
    return count_shared_start(PurePosixPath(path).parent.parts, PurePosixPath(other).parent.parts)


def count_shared_start(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of equal parts, or letters, at the beginning of two sequences."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
