"""Put the body of another version of a Java method into a method, where it never runs.

Implements `coevo.languages.rewriting.IdleCopying`. The copy is a block under a condition that the
compiler does not evaluate. There is none where the compiler would add members for it, since
reflection lists these. A copy that does not compile there is left to the compiler.
"""

from __future__ import annotations

from random import Random

from tree_sitter import Node, Parser

from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.measures import invent_word
from coevo.languages.rewriting import Piece, PieceRole, VersionSpan, walk_named_nodes

# What the compiler makes members or classes of.
_REFUSED = frozenset(
    {
        'assert_statement',
        'class_body',
        'class_literal',
        'enum_declaration',
        'interface_declaration',
        'lambda_expression',
        'method_reference',
        'record_declaration',
        'switch_expression',
        'switch_statement',
    }
)


def list_idle_copy(place: VersionSpan, copied: VersionSpan, draw: Random) -> tuple[Piece, ...]:
    """Return the pieces that put the body of one method into another; none if that is unsafe."""
    body, other = (_find_body(version) for version in (place, copied))
    if body is None or other is None:
        return ()
    if any(node.type in _REFUSED for node in walk_named_nodes(other)):
        return ()
    block = copied.source[other.start_byte : other.end_byte]
    text = b'\nif ("%b".isEmpty()) %b\n' % (invent_word(draw), block)
    at = body.start_byte + 1
    return (Piece(start=at, end=at, text=text, role=PieceRole.STATEMENT),)


def _find_body(version: VersionSpan) -> Node | None:
    root = Parser(JAVA).parse(version.source).root_node
    start, end = version.span
    node = None if root.has_error else root.descendant_for_byte_range(start, end)
    if node is None or node.type != 'method_declaration':
        return None
    return node.child_by_field_name('body')
