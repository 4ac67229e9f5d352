"""Finds the classes that run a test method: the one that declares it, or those derived from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from coevo.languages.declarations import DeclaredType
from coevo.languages.layout import Side
from coevo.languages.reading import RevisionTree
from coevo.model.records import TestMethod

IsRun = Callable[[str, DeclaredType], bool]
"""Returns whether the framework runs the tests of a type of a file under the type's own name."""


def find_classes_running_method(
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
        for path, type_ in _find_derived_types(tree, method, own.simple)
        if is_run(path, type_)
    ]
    return tuple(sorted(inherited, key=lambda one: (one.test_file, one.test_class))) or (method,)


def _find_declaring_type(tree: RevisionTree, method: TestMethod) -> DeclaredType | None:
    if method.test_file not in tree.entries:
        return None
    types = tree.parse_file(method.test_file).types
    return next((type_ for type_ in types if type_.name == method.test_class), None)


def _find_derived_types(
    tree: RevisionTree, method: TestMethod, simple: str
) -> Iterator[tuple[str, DeclaredType]]:
    """Yield the types that derive from a type, directly or not, and do not redeclare the method."""
    left = [
        (path, type_)
        for path in tree.list_paths(Side.TEST)
        if tree.find_module(path) == method.module
        for type_ in tree.parse_file(path).types
        if all(member.name != method.test_method for member in type_.members)
    ]
    known = {simple}
    while heirs := [
        candidate for candidate in left if not known.isdisjoint(_list_bases(candidate[1]))
    ]:
        yield from heirs
        known |= {type_.simple for _, type_ in heirs}
        left = [candidate for candidate in left if candidate not in heirs]


def _list_bases(type_: DeclaredType) -> tuple[str, ...]:
    return (*((type_.superclass,) if type_.superclass else ()), *type_.interfaces)
