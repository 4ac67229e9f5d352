"""What the trees of all languages answer in one way: files by side, and types of the tests by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable

from coevo.languages.declarations import Located
from coevo.languages.layout import Side
from coevo.languages.reading import Tree


def paths_by_side(
    paths: Iterable[str], side_of: Callable[[str], Side | None]
) -> dict[Side, tuple[str, ...]]:
    """Sorted."""
    return {side: tuple(sorted(path for path in paths if side_of(path) is side)) for side in Side}


def types_by_name(tree: Tree) -> dict[str, tuple[Located, ...]]:
    """The types of the test tree by simple name."""
    found = defaultdict(list)
    for path in tree.paths(Side.TEST):
        for type_ in tree.file(path).types:
            found[type_.simple].append(Located(path, type_))
    return {simple: tuple(types) for simple, types in found.items()}


def meant(tree: Tree, path: str, simple: str) -> tuple[Located, ...]:
    """The types of the test tree that a simple name may mean in a file of it."""
    named = tree.test_types.get(simple, ())
    return tuple(found for found in named if tree.visible(path, found)) if named else ()
