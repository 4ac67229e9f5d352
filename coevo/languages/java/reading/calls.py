"""Calls and variables in a piece of Java, read off its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from coevo.languages.java.reading.tokens import COMMENTS
from coevo.languages.java.reading.tokens import erase

_CLASS_BODIES = frozenset({'class_body', 'interface_body', 'enum_body'})
_ATOMS = frozenset({'string_literal', 'character_literal'})
_DECLARING = frozenset({'local_variable_declaration', 'field_declaration'})
_BOUND = frozenset({'formal_parameter', 'resource', 'enhanced_for_statement'})
_WORD = re.compile(r'[\w$]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call of a method; receiver is what stands before the dot, if anything does."""

    name: str
    receiver: Node | None
    arguments: tuple[Node, ...]
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A declared variable: its type's simple name as written, and its initializer.

    declaration is the whole statement, parameter or field.
    """

    name: str
    type: str
    value: Node | None
    declaration: Node


def text(node: Node) -> str:
    return (node.text or b'').decode(errors='replace')


def named(node: Node) -> list[Node]:
    """The children that are neither punctuation nor comments."""
    return [child for child in node.named_children if child.type not in COMMENTS]


def inside(node: Node, *, classes: bool) -> Iterator[Node]:
    """A node and all below it in order, with or without bodies of local and anonymous classes."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = reversed(current.children)
        stack += [child for child in below if classes or child.type not in _CLASS_BODIES]


def calls_in(node: Node, *, classes: bool = False) -> Iterator[Call]:
    for found in inside(node, classes=classes):
        if found.type == 'method_invocation':
            yield call_of(found)


def call_of(invocation: Node) -> Call:
    name = invocation.child_by_field_name('name')
    arguments = invocation.child_by_field_name('arguments')
    return Call(
        name=text(name) if name is not None else '',
        receiver=invocation.child_by_field_name('object'),
        arguments=tuple(named(arguments)) if arguments is not None else (),
        node=invocation,
    )


def chained(call: Call) -> tuple[Call, ...]:
    """The calls made on the result of a call, one after the other: `b` and `c` of `a().b().c()`."""
    found, node = [], call.node
    while (parent := node.parent) is not None and parent.type == 'method_invocation':
        if parent.child_by_field_name('object') != node:
            break
        found.append(call_of(parent))
        node = parent
    return tuple(found)


def variables_in(node: Node) -> Iterator[Variable]:
    """Fields, local variables, resources and parameters declared in a node."""
    for found in inside(node, classes=False):
        if found.type in _DECLARING:
            for declarator in found.children_by_field_name('declarator'):
                yield from _variable(found, declarator)
        elif found.type in _BOUND:
            yield from _variable(found, found)


def _variable(declaration: Node, declarator: Node) -> Iterator[Variable]:
    type_ = declaration.child_by_field_name('type')
    name = declarator.child_by_field_name('name')
    if type_ is None or name is None:
        return  # a resource that is only named, or code with an error
    value = declarator.child_by_field_name('value')
    declared = erase(text(type_))
    if declared == 'var' and value is not None and (created := created_type(value)) is not None:
        declared = created
    bound = declaration.type == 'enhanced_for_statement'
    yield Variable(
        name=text(name), type=declared, value=None if bound else value, declaration=declaration
    )


def created_type(node: Node) -> str | None:
    """The simple name of the type that `new` creates, None for any other expression."""
    if node.type != 'object_creation_expression':
        return None
    type_ = node.child_by_field_name('type')
    return erase(text(type_)) if type_ is not None else None


def normalised(node: Node) -> str:
    """A node's tokens without comments and white space but what separates words."""
    found = ''
    for token in _tokens(node):
        apart = _WORD.match(found[-1:]) and _WORD.match(token)
        found += f' {token}' if apart else token
    return found


def _tokens(node: Node) -> Iterator[str]:
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in _ATOMS or not current.children:
            if current.type not in COMMENTS:
                yield text(current)
        else:
            stack += reversed(current.children)
