"""Finds the classes that run a test method, and answers whether a property holds for a type or any
type above it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from coevo.languages.declarations import DeclaredType
from coevo.languages.layout import Side
from coevo.languages.reading import RevisionTree
from coevo.model.records import TestMethod

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
