"""Methods that the trees of all languages share: files by side, and types of the tests by name.

A tree adopts them by assignment: `resolve_type = find_meant_types`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from coevo.languages.declarations import LocatedType
from coevo.languages.layout import Side
from coevo.languages.reading import RevisionTree

Parsed = TypeVar('Parsed')
Context = TypeVar('Context')
Placed = TypeVar('Placed')


def group_paths_by_side(tree: RevisionTree) -> dict[Side, tuple[str, ...]]:
    """Return all paths that belong to the code or the tests, by side, sorted."""
    return {
        side: tuple(sorted(path for path in tree.entries if tree.find_side(path) is side))
        for side in Side
    }


def list_paths_of_side(tree: RevisionTree, side: Side) -> tuple[str, ...]:
    """Return the paths of one side, sorted."""
    return tree.paths_by_side[side]


def find_folder_above(path: str, folders: Container[str]) -> str:
    """Return the nearest folder above a file that is in `folders`; '.' if none is."""
    parents = map(str, PurePosixPath(path).parents)
    return next((folder for folder in parents if folder in folders), '.')


def index_test_types(tree: RevisionTree) -> dict[str, tuple[LocatedType, ...]]:
    """Return the types of the test tree by simple name."""
    located = defaultdict(list)
    for path in tree.list_paths(Side.TEST):
        for type_ in tree.parse_file(path).types:
            located[type_.simple].append(LocatedType(path, type_))
    return {simple: tuple(types) for simple, types in located.items()}


def find_meant_types(tree: RevisionTree, path: str, simple: str) -> tuple[LocatedType, ...]:
    """Return the types of the test tree that a simple name may refer to in a file of the tree."""
    named = tree.test_types.get(simple, ())
    return (
        tuple(candidate for candidate in named if tree.is_visible(path, candidate)) if named else ()
    )


def find_no_embedders(tree: RevisionTree, path: str) -> tuple[str, ...]:
    """Return nothing: this language compiles no files of other kinds into its own."""
    return ()


def find_no_companions(tree: RevisionTree, path: str) -> tuple[LocatedType, ...]:
    """Return nothing: only fixtures that a file can see run around its tests."""
    return ()


class PlacedFiles(Generic[Parsed, Context, Placed]):
    """Files with the context of their revision applied.

    Revisions whose context of a file is equal share one object for the file.
    """

    def __init__(
        self,
        parse: Callable[[bytes, str], Parsed],
        apply_context: Callable[[Parsed, Context], Placed],
    ) -> None:
        self._parse, self._apply_context = parse, apply_context
        self._get_last = lru_cache(maxsize=2048)(self._remember_nothing)

    def place(self, source: bytes, path: str, around: Context) -> Placed:
        """Return a file in a context; the result for the last revision if its context was equal."""
        cache = self._get_last(source, path)
        last = cache[0] if cache else None
        if last is None or last[0] != around:  # another thread may store another result meanwhile
            last = around, self._apply_context(self._parse(source, path), around)
            cache[:] = [last]
        return last[1]

    @staticmethod
    def _remember_nothing(source: bytes, path: str) -> list[tuple[Context, Placed]]:
        return []
