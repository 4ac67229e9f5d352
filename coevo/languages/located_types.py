"""What the trees of all languages answer in one way: files by side, and types of the tests by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from coevo.languages.declarations import LocatedType
from coevo.languages.layout import Side
from coevo.languages.reading import RevisionTree


def group_paths_by_side(
    paths: Iterable[str], side_of: Callable[[str], Side | None]
) -> dict[Side, tuple[str, ...]]:
    """Sorted."""
    return {side: tuple(sorted(path for path in paths if side_of(path) is side)) for side in Side}


def index_test_types(tree: RevisionTree) -> dict[str, tuple[LocatedType, ...]]:
    """The types of the test tree by simple name."""
    located = defaultdict(list)
    for path in tree.list_paths(Side.TEST):
        for type_ in tree.parse_file(path).types:
            located[type_.simple].append(LocatedType(path, type_))
    return {simple: tuple(types) for simple, types in located.items()}


def find_meant_types(tree: RevisionTree, path: str, simple: str) -> tuple[LocatedType, ...]:
    """The types of the test tree that a simple name may mean in a file of it."""
    named = tree.test_types.get(simple, ())
    return (
        tuple(candidate for candidate in named if tree.is_visible(path, candidate)) if named else ()
    )
