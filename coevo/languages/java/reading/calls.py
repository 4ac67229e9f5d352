"""Find calls and variables in the syntax tree of a piece of Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from coevo.languages.java.reading.tokens import COMMENTS, erase_type_name

_CLASS_BODIES = frozenset({'class_body', 'interface_body', 'enum_body'})
_ATOMS = frozenset({'string_literal', 'character_literal'})
_DECLARING = frozenset({'local_variable_declaration', 'field_declaration'})
_BOUND = frozenset({'formal_parameter', 'resource', 'enhanced_for_statement'})
_WORD = re.compile(r'[\w$]')


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaCall:
    """A method call in source; `receiver` is the expression before the dot or None."""

    name: str
    receiver: Node | None
    arguments: tuple[Node, ...]
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaVariable:
    """A declared variable; `type` is the simple name of its type, `value` its initializer or None.

    The type is as written, but that of `var x = new Foo()` is `Foo`. `declaration` is the whole
    statement, parameter or field.
    """

    name: str
    type: str
    value: Node | None
    declaration: Node


def get_text(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b'').decode(errors='replace')


def list_children_without_comments(node: Node) -> list[Node]:
    """Return the children that are neither punctuation nor comments."""
    return [child for child in node.named_children if child.type not in COMMENTS]


def iterate_nodes(node: Node, *, into_local_classes: bool) -> Iterator[Node]:
    """Yield a node and all of its descendants in source order.

    With `classes=False`, skip the bodies of local and anonymous classes.
    """
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = reversed(current.children)
        stack += [child for child in below if into_local_classes or child.type not in _CLASS_BODIES]


def find_calls(node: Node, *, into_local_classes: bool = False) -> Iterator[JavaCall]:
    """Yield the method calls in a node, itself included; see `iterate_nodes` for `classes`."""
    for descendant in iterate_nodes(node, into_local_classes=into_local_classes):
        if descendant.type == 'method_invocation':
            yield parse_call(descendant)


def parse_call(invocation: Node) -> JavaCall:
    """Return the call that a `method_invocation` node stands for."""
    name = invocation.child_by_field_name('name')
    arguments = invocation.child_by_field_name('arguments')
    return JavaCall(
        name=get_text(name) if name is not None else '',
        receiver=invocation.child_by_field_name('object'),
        arguments=tuple(list_children_without_comments(arguments)) if arguments is not None else (),
        node=invocation,
    )


def find_chained_calls(call: JavaCall) -> tuple[JavaCall, ...]:
    """Return the calls made on the result of a call, in order: `b` and `c` of `a().b().c()`."""
    calls, node = [], call.node
    while (parent := node.parent) is not None and parent.type == 'method_invocation':
        if parent.child_by_field_name('object') != node:
            break
        calls.append(parse_call(parent))
        node = parent
    return tuple(calls)


def find_variables(node: Node) -> Iterator[JavaVariable]:
    """Yield the fields, local variables, resources and parameters declared in a node.

    Bodies of local and anonymous classes are skipped.
    """
    for descendant in iterate_nodes(node, into_local_classes=False):
        if descendant.type in _DECLARING:
            for declarator in descendant.children_by_field_name('declarator'):
                yield from _parse_variable(descendant, declarator)
        elif descendant.type in _BOUND:
            yield from _parse_variable(descendant, descendant)


def _parse_variable(declaration: Node, declarator: Node) -> Iterator[JavaVariable]:
    type_ = declaration.child_by_field_name('type')
    name = declarator.child_by_field_name('name')
    if type_ is None or name is None:
        return  # a resource given only by name, or code with a syntax error
    value = declarator.child_by_field_name('value')
    declared = erase_type_name(get_text(type_))
    if (
        declared == 'var'
        and value is not None
        and (created := find_created_type_name(value)) is not None
    ):
        declared = created
    bound = declaration.type == 'enhanced_for_statement'
    yield JavaVariable(
        name=get_text(name), type=declared, value=None if bound else value, declaration=declaration
    )


def find_created_type_name(node: Node) -> str | None:
    """Return the simple name of the type that `new` creates; None for any other expression."""
    if node.type != 'object_creation_expression':
        return None
    type_ = node.child_by_field_name('type')
    return erase_type_name(get_text(type_)) if type_ is not None else None


def normalise_node(node: Node) -> str:
    """Join a node's tokens, without comments and with spaces only where two words would merge."""
    joined = ''
    for token in _list_tokens(node):
        apart = _WORD.match(joined[-1:]) and _WORD.match(token)
        joined += f' {token}' if apart else token
    return joined


def _list_tokens(node: Node) -> Iterator[str]:
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in _ATOMS or not current.children:
            if current.type not in COMMENTS:
                yield get_text(current)
        else:
            stack += reversed(current.children)
