"""Put the body of another version of a Go function into a function, where it never runs.

Implements `coevo.languages.rewriting.IdleCopying`. The copy is a block under a variable of the
package that nothing sets, so that the compiler keeps it. A block has its own names, so that the
function's own names stay as they are. A copy that does not compile there is left to the compiler.
"""

from __future__ import annotations

from random import Random

from tree_sitter import Node, Parser

from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.rewriting import Piece, PieceRole, VersionSpan, invent_name

_DECLARED = ('function_declaration', 'method_declaration')


def list_idle_copy(place: VersionSpan, copied: VersionSpan, draw: Random) -> tuple[Piece, ...]:
    """Return the pieces that put the body of one function into another; none if there is no body."""
    body, other = (_find_body(version) for version in (place, copied))
    if body is None or other is None:
        return ()
    flag = invent_name(draw, 'v').encode()
    block = copied.source[other.start_byte : other.end_byte]
    at, end = body.start_byte + 1, len(place.source)
    return (
        Piece(start=at, end=at, text=b'\nif %b %b\n' % (flag, block), role=PieceRole.STATEMENT),
        Piece(start=end, end=end, text=b'\nvar %b bool\n' % flag, role=PieceRole.STATEMENT),
    )


def _find_body(version: VersionSpan) -> Node | None:
    root = Parser(GO).parse(version.source).root_node
    start, end = version.span
    node = None if root.has_error else root.descendant_for_byte_range(start, end)
    if node is None or node.type not in _DECLARED:
        return None
    return node.child_by_field_name('body')
