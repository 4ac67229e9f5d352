"""Methods that the trees of all languages share: files by side, and types of the tests by name.

A tree adopts them by assignment: `resolve_test_type = find_meant_test_types`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from coevo.languages.declarations import LocatedType
from coevo.languages.layout import ProductionKind, Side
from coevo.languages.reading import RevisionTree

Parsed = TypeVar('Parsed')
Context = TypeVar('Context')
Placed = TypeVar('Placed')


def group_paths_by_side(tree: RevisionTree) -> dict[Side, tuple[str, ...]]:
    """Return the paths of all files of code and of all files of tests, by side, each sorted.

    Files that belong to neither are left out.
    """
    return {
        side: tuple(sorted(path for path in tree.entries if tree.find_side(path) is side))
        for side in Side
    }


def list_paths_of_side(tree: RevisionTree, side: Side) -> tuple[str, ...]:
    """Return the paths of all files of the code or of the tests, sorted."""
    return tree.paths_by_side[side]


def find_kind_of_code(tree: RevisionTree, path: str) -> ProductionKind | None:
    """Return `CODE` for a source file of the code; None for every other file.

    For languages in which a project ships nothing but sources.
    """
    return ProductionKind.CODE if tree.find_side(path) is Side.SOURCE else None


def find_folder_above(path: str, folders: Container[str]) -> str:
    """Return the nearest folder above a file that is in `folders`; '.', the root, if none is."""
    parents = map(str, PurePosixPath(path).parents)
    return next((folder for folder in parents if folder in folders), '.')


def index_test_types(tree: RevisionTree) -> dict[str, tuple[LocatedType, ...]]:
    """Return all types that test files declare, by simple name. Parses all test files."""
    located = defaultdict(list)
    for path in tree.list_paths(Side.TEST):
        for type_ in tree.parse_file(path).types:
            located[type_.simple].append(LocatedType(path, type_))
    return {simple: tuple(types) for simple, types in located.items()}


def find_meant_test_types(tree: RevisionTree, path: str, simple: str) -> tuple[LocatedType, ...]:
    """Return the types of the test tree that a simple name may refer to in a file.

    These are all types of that name which the file can see; () if there are none.
    """
    named = tree.test_types.get(simple, ())
    return (
        tuple(candidate for candidate in named if tree.is_visible(path, candidate)) if named else ()
    )


def find_no_embedders(tree: RevisionTree, path: str) -> tuple[str, ...]:
    """Return (): files of this language do not compile the content of other files in."""
    return ()


def find_no_companions(tree: RevisionTree, path: str) -> tuple[LocatedType, ...]:
    """Return (): only fixtures that a file can see run around its tests."""
    return ()


class PlacedFiles(Generic[Parsed, Context, Placed]):
    """A cache of parsed files to which the context of their revision was applied.

    Revisions whose context of a file is equal share one object for the file.

    parse          parses the content at a path, without context
    apply_context  returns the parsed file with what the context adds
    """

    def __init__(
        self,
        parse: Callable[[bytes, str], Parsed],
        apply_context: Callable[[Parsed, Context], Placed],
    ) -> None:
        self._parse, self._apply_context = parse, apply_context
        self._get_last = lru_cache(maxsize=2048)(self._make_empty_cache)

    def place(self, source: bytes, path: str, around: Context) -> Placed:
        """Return a file, parsed and with a context applied.

        If the last call for this content and path had an equal context, its result is returned
        again.
        """
        cache = self._get_last(source, path)
        last = cache[0] if cache else None
        if last is None or last[0] != around:  # another thread may store another result meanwhile
            last = around, self._apply_context(self._parse(source, path), around)
            cache[:] = [last]
        return last[1]

    @staticmethod
    def _make_empty_cache(source: bytes, path: str) -> list[tuple[Context, Placed]]:
        return []
