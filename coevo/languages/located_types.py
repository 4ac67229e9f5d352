"""What the trees of all languages answer in one way: files by side, and types of the tests by name.

A tree has these by assignment: `resolve_type = find_meant_types`.
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
    """All paths that have a side, sorted."""
    return {
        side: tuple(sorted(path for path in tree.entries if tree.find_side(path) is side))
        for side in Side
    }


def list_paths_of_side(tree: RevisionTree, side: Side) -> tuple[str, ...]:
    """Sorted."""
    return tree.paths_by_side[side]


def find_folder_above(path: str, folders: Container[str]) -> str:
    """The nearest folder above a file that is one of some; '.' for the root or where none is."""
    parents = map(str, PurePosixPath(path).parents)
    return next((folder for folder in parents if folder in folders), '.')


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


class PlacedFiles(Generic[Parsed, Context, Placed]):
    """Files as the revisions around them make them: one object for all revisions that make the same of one."""

    def __init__(
        self,
        parse: Callable[[bytes, str], Parsed],
        apply_context: Callable[[Parsed, Context], Placed],
    ) -> None:
        self._parse, self._apply_context = parse, apply_context
        self._get_last = lru_cache(maxsize=2048)(self._remember_nothing)

    def place(self, source: bytes, path: str, around: Context) -> Placed:
        """A file in a context; that of the last revision, where it made the same of it."""
        cache = self._get_last(source, path)
        last = cache[0] if cache else None
        if last is None or last[0] != around:  # another thread may put another one there meanwhile
            last = around, self._apply_context(self._parse(source, path), around)
            cache[:] = [last]
        return last[1]

    @staticmethod
    def _remember_nothing(source: bytes, path: str) -> list[tuple[Context, Placed]]:
        return []
