"""Which classes run a test method: the one that declares it, or those that derive from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Iterator

from coevo.languages.declarations import DeclaredType
from coevo.languages.layout import Side
from coevo.languages.reading import Tree
from coevo.model.records import TestMethod

IsRun = Callable[[str, DeclaredType], bool]
"""Whether the framework runs the tests of a type of a file under the type's own name."""


def runners(tree: Tree, method: TestMethod, is_run: IsRun) -> tuple[TestMethod, ...]:
    """A method under the names of the classes of its module that run it, in the order of files and names.

    As it is where its own class runs it, or none is found that does. Bases are told by their simple names.
    """
    own = _declaring(tree, method)
    if own is None or is_run(method.test_file, own):
        return (method,)
    found = [
        dataclasses.replace(method, test_file=path, test_class=type_.name)
        for path, type_ in _heirs(tree, method, own.simple)
        if is_run(path, type_)
    ]
    return tuple(sorted(found, key=lambda one: (one.test_file, one.test_class))) or (method,)


def _declaring(tree: Tree, method: TestMethod) -> DeclaredType | None:
    if method.test_file not in tree.entries:
        return None
    types = tree.file(method.test_file).types
    return next((type_ for type_ in types if type_.name == method.test_class), None)


def _heirs(tree: Tree, method: TestMethod, simple: str) -> Iterator[tuple[str, DeclaredType]]:
    """What derives from a type, however far, and does not declare the method anew."""
    left = [
        (path, type_)
        for path in tree.paths(Side.TEST)
        if tree.module(path) == method.module
        for type_ in tree.file(path).types
        if all(member.name != method.test_method for member in type_.members)
    ]
    known = {simple}
    while found := [one for one in left if not known.isdisjoint(_bases(one[1]))]:
        yield from found
        known |= {type_.simple for _, type_ in found}
        left = [one for one in left if one not in found]


def _bases(type_: DeclaredType) -> tuple[str, ...]:
    return (*((type_.superclass,) if type_.superclass else ()), *type_.interfaces)
