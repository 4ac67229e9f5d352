"""Types of the tests: files by side, types by name, and the classes that run a method.

A tree adopts them by assignment: `resolve_test_type = find_meant_test_types`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from coevo.languages.declarations import DeclaredType, LocatedType
from coevo.languages.reading import ProductionKind, RevisionTree, Side
from coevo.model.records import TestMethod

# Methods that the trees of all languages share: files by side, and types of the tests by name.

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


# Finds the classes that run a test method, and answers whether a property holds for a type or any
# type above it.

# Answers whether a property holds for a name or any name above it, such as its superclasses.
#
# The time grows linearly with the code. A hostile file may declare a thousand classes of one name
# that each derive from that name, so each name is visited once, rather than each path.

Ask = Callable[[str], tuple[bool, Iterable[str]]]
"""Takes a name. Returns whether the property holds for the name itself, and the names directly
above it.
"""


class AncestryQuery:
    """A search for a property among names and all names above them, which caches its answers.

    ask  returns whether one name has the property itself, and the names directly above it
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[str, bool] = {}

    def holds_for_any_ancestor(self, name: str) -> bool:
        """Return whether the property holds for a name or for any name above it, however far."""
        if name not in self._known:
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> bool:
        """Search upwards from a name, and cache an answer for each name visited.

        If the property holds somewhere above, it holds for all names on the way there. Otherwise it
        holds for none of the names visited.
        """
        below: dict[str, str | None] = {name: None}
        todo = [name]
        while todo:
            current = todo.pop()
            own, above = self._ask(current)
            if own or any(self._known.get(each) for each in above):
                way: str | None = current
                while way is not None:
                    self._known[way] = True
                    way = below[way]
                return True
            new = [each for each in above if each not in below and each not in self._known]
            below.update(dict.fromkeys(new, current))
            todo += new
        self._known.update(dict.fromkeys(below, False))
        return False


IsRun = Callable[[str, DeclaredType], bool]
"""Returns whether the framework runs the tests of a type of a file under the type's own name."""


def repeat_method_for_running_classes(
    tree: RevisionTree, method: TestMethod, is_run: IsRun
) -> tuple[TestMethod, ...]:
    """Return a method once for each class of its module that runs it, sorted by files and names.

    Returns the method unchanged if its own class runs it, or if no class does. Base classes are
    recognized by their simple names.
    """
    own = _find_declaring_type(tree, method)
    if own is None or is_run(method.test_file, own):
        return (method,)
    inherited = [
        dataclasses.replace(method, test_file=path, test_class=type_.name)
        for path, type_ in _find_derived_types_inheriting_method(tree, method, own.simple)
        if is_run(path, type_)
    ]
    return tuple(sorted(inherited, key=lambda one: (one.test_file, one.test_class))) or (method,)


def _find_declaring_type(tree: RevisionTree, method: TestMethod) -> DeclaredType | None:
    if method.test_file not in tree.entries:
        return None
    types = tree.parse_file(method.test_file).types
    return next((type_ for type_ in types if type_.name == method.test_class), None)


def _find_derived_types_inheriting_method(
    tree: RevisionTree, method: TestMethod, simple: str
) -> Iterator[tuple[str, DeclaredType]]:
    """Yield the types that derive from a type, directly or not, and do not redeclare the method."""
    left = [
        (path, type_)
        for path in tree.list_paths(Side.TEST)
        if tree.find_module_folder(path) == method.module
        for type_ in tree.parse_file(path).types
        if all(member.name != method.test_method for member in type_.members)
    ]
    known = {simple}
    while heirs := [
        candidate for candidate in left if not known.isdisjoint(_list_base_names(candidate[1]))
    ]:
        yield from heirs
        known |= {type_.simple for _, type_ in heirs}
        left = [candidate for candidate in left if candidate not in heirs]


def _list_base_names(type_: DeclaredType) -> tuple[str, ...]:
    return (*((type_.superclass,) if type_.superclass else ()), *type_.interfaces)
