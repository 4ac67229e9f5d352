"""Test smells of a class, laid to its tests, as PyNose (ASE 2021) defines them."""

from __future__ import annotations

from tree_sitter import Node

from coevo.languages.python.reading.statements import definition
from coevo.languages.python.smells.source import PythonTest
from coevo.languages.python.smells.source import functions_of
from coevo.languages.python.smells.source import inside
from coevo.languages.python.smells.source import name_of
from coevo.languages.python.smells.source import text

_SETS_UP = ('setUp', 'setUpClass')
_DEFAULT = 'MyTestCase'  # as PyCharm names it


def is_constructor_initialization(test: PythonTest) -> bool:
    """A class of tests with a constructor."""
    owner = test.owner
    return owner is not None and any(name_of(one) == '__init__' for one in functions_of(owner))


def is_default_test(test: PythonTest) -> bool:
    """A class that is named as an editor has proposed it."""
    return test.owner is not None and name_of(definition(test.owner)) == _DEFAULT


def is_general_fixture(test: PythonTest) -> bool:
    """A test that leaves a field unused which setUp or setUpClass of its class assigns."""
    return bool(_fields(test) - _used(test))


def is_test_maverick(test: PythonTest) -> bool:
    """A test that uses none of these fields."""
    fields = _fields(test)
    return bool(fields) and not fields & _used(test)


def _fields(test: PythonTest) -> set[str]:
    """Attributes that are assigned of the first parameter."""
    found: set[str] = set()
    for function in functions_of(test.owner) if test.owner is not None else ():
        first = _first_parameter(function)
        if name_of(function) in _SETS_UP and first:
            for node in inside(function):
                left = node.child_by_field_name('left') if node.type == 'assignment' else None
                targets = (left, *inside(left)) if left is not None else ()
                found |= {name for one in targets if (name := _attribute(one, first))}
    return found


def _used(test: PythonTest) -> set[str]:
    first = _first_parameter(definition(test.function))
    return {name for node in inside(test.body) if first and (name := _attribute(node, first))}


def _first_parameter(function: Node) -> str:
    listed = function.child_by_field_name('parameters')
    named = listed.named_children if listed is not None else []
    return text(named[0]).partition(':')[0].strip() if named else ''


def _attribute(node: Node, owner: str) -> str:
    if node.type != 'attribute':
        return ''
    holder, name = node.child_by_field_name('object'), node.child_by_field_name('attribute')
    is_own = holder is not None and text(holder) == owner
    return text(name) if is_own and name is not None else ''
