"""Test smells of a class, attributed to its tests, as PyNose (ASE 2021) defines them."""

from __future__ import annotations

from tree_sitter import Node

from coevo.languages.python.reading.statements import get_definition
from coevo.languages.python.smells.source import (
    PythonTest,
    get_name,
    get_text,
    list_functions,
    walk_descendants,
)

_SETS_UP = ('setUp', 'setUpClass')
_DEFAULT = 'MyTestCase'  # PyCharm's default name


def is_constructor_initialization(test: PythonTest) -> bool:
    """Return whether the class of the test itself declares `__init__`."""
    owner = test.owner
    return owner is not None and any(
        get_name(function) == '__init__' for function in list_functions(owner)
    )


def is_default_test(test: PythonTest) -> bool:
    """Return whether the class of the test has the name that PyCharm proposes: `MyTestCase`."""
    return test.owner is not None and get_name(get_definition(test.owner)) == _DEFAULT


def is_general_fixture(test: PythonTest) -> bool:
    """Return whether setUp or setUpClass assigns a field that the test does not use."""
    return bool(_find_fixture_fields(test) - _find_used_attributes(test))


def is_test_maverick(test: PythonTest) -> bool:
    """Return whether the test uses none of the fields that setUp or setUpClass assigns.

    False if these assign none.
    """
    fields = _find_fixture_fields(test)
    return bool(fields) and not fields & _find_used_attributes(test)


def _find_fixture_fields(test: PythonTest) -> set[str]:
    """Return the attributes of `self` or `cls` that setUp and setUpClass assign."""
    fields: set[str] = set()
    for function in list_functions(test.owner) if test.owner is not None else ():
        first = _get_first_parameter(function)
        if get_name(function) in _SETS_UP and first:
            for node in walk_descendants(function):
                left = node.child_by_field_name('left') if node.type == 'assignment' else None
                targets = (left, *walk_descendants(left)) if left is not None else ()
                fields |= {name for target in targets if (name := _get_attribute(target, first))}
    return fields


def _find_used_attributes(test: PythonTest) -> set[str]:
    first = _get_first_parameter(get_definition(test.function))
    return {
        name
        for node in walk_descendants(test.body)
        if first and (name := _get_attribute(node, first))
    }


def _get_first_parameter(function: Node) -> str:
    listed = function.child_by_field_name('parameters')
    named = listed.named_children if listed is not None else []
    return get_text(named[0]).partition(':')[0].strip() if named else ''


def _get_attribute(node: Node, owner: str) -> str:
    if node.type != 'attribute':
        return ''
    holder, name = node.child_by_field_name('object'), node.child_by_field_name('attribute')
    is_own = holder is not None and get_text(holder) == owner
    return get_text(name) if is_own and name is not None else ''
