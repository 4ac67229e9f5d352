"""Detect test smells of the calls that tests make to their class under test.

Definitions: testsmells.org and the source of tsDetect 2.2. A call is one to the class under test if
its receiver is that class or a variable of it, or if its name and number of arguments match one of
that class's public or protected methods. tsDetect requires no more. Here such a call is excluded if
its receiver is another class or a variable of a JDK type, or if it has no receiver and is not
statically imported.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.calls import (
    JavaCall,
    find_calls,
    find_created_type_name,
    get_text,
)
from coevo.languages.java.reading.source import JavaTest

_JAVA_LANG = frozenset(
    {
        *('boolean', 'byte', 'char', 'double', 'float', 'int', 'long', 'short'),
        *('Boolean', 'Byte', 'Character', 'Double', 'Float', 'Integer', 'Long', 'Short', 'Number'),
        *('String', 'StringBuilder', 'StringBuffer', 'Class', 'Thread', 'Throwable', 'Exception'),
    }
)
_VISIBLE = frozenset({'public', 'protected'})

Signature = tuple[str, int]
"""Name and number of arguments."""


def is_eager_test(test: JavaTest, production: DeclaredType) -> bool:
    """Return whether a test calls two or more methods of the class under test.

    tsDetect (threshold 1) counts every call, even repeated calls of one method; its documentation
    requires several methods.
    """
    return len(_collect_called_signatures(test, production)) > 1


def is_lazy_test(test: JavaTest, production: DeclaredType) -> bool:
    """Return whether a test calls a method under test that another test of the file calls too."""
    own = _collect_called_signatures(test, production)
    return bool(own) and any(
        not own.isdisjoint(_collect_called_signatures(other, production))
        for other in test.file.tests
        if other.member.start_byte != test.member.start_byte
    )


def _collect_called_signatures(test: JavaTest, production: DeclaredType) -> set[Signature]:
    return set(_find_called_signatures(test, production))


def _find_called_signatures(test: JavaTest, production: DeclaredType) -> Iterator[Signature]:
    known = set(_list_signatures(production))
    for call in find_calls(test.body):
        signature = (call.name, len(call.arguments))
        of_class = _is_call_of(test, call, production)
        if of_class or (of_class is None and signature in known):
            yield signature


def _list_signatures(production: DeclaredType) -> Iterator[Signature]:
    for member in production.members:
        visible = production.kind == 'interface' or not _VISIBLE.isdisjoint(member.modifiers)
        if member.kind == 'method' and visible:
            yield member.name, len(member.parameters)


def _is_call_of(test: JavaTest, call: JavaCall, production: DeclaredType) -> bool | None:
    """Return whether a call belongs to the class under test, by its receiver; None if unclear.

    A call without a receiver is unclear if it is imported statically from that class; else it is
    False.
    """
    if call.receiver is None:
        return None if _is_static_import(test, call.name, production) else False
    if (created := find_created_type_name(call.receiver)) is not None:
        return created == production.simple
    name = _get_variable_name(call.receiver)
    if name is None:
        return None
    if name == production.simple:
        return True
    if name not in test.variables:
        # A capital letter means another class; otherwise it is an inherited field.
        return False if name[:1].isupper() else None
    variable = test.variables[name]
    initial_type = find_created_type_name(variable.value) if variable.value is not None else None
    if production.simple in (variable.type, initial_type):
        return True
    return False if _is_jdk_type(test, variable.type) else None


def _is_jdk_type(test: JavaTest, simple: str) -> bool:
    imports = test.file.file.imports
    return simple in _JAVA_LANG or any(
        item.name == simple and item.text.startswith(('java.', 'javax.')) for item in imports
    )


def _get_variable_name(receiver: Node) -> str | None:
    """Return the name in `name` or `this.name`; None for any other expression."""
    if receiver.type == 'identifier':
        return get_text(receiver)
    if receiver.type == 'field_access' and get_text(receiver).startswith('this.'):
        return get_text(receiver).removeprefix('this.')
    return None


def _is_static_import(test: JavaTest, name: str, production: DeclaredType) -> bool:
    holder = production.canonical_name
    return any(
        item.static and item.text in (f'{holder}.{name}', holder) for item in test.file.file.imports
    )
