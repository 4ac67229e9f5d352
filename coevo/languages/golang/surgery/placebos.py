"""Inserts statements and comments without effect into Go.

Fulfils `coevo.languages.measures.PlaceboInsertion`.

A statement looks up a word in a map of its own and discards the result. That needs no import and
declares nothing, and the compiler does not remove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tree_sitter import Node, Parser

from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.measures import (
    LocatedDeclaration,
    PlaceboKind,
    choose_line_breaks,
    invent_word,
)

# Nodes that contain statements: a block or a case.
_LISTS = ('statement_list', 'block')
_OTHER = ('statement_list', 'comment', 'empty_statement')
_MOST_NUMBER = 1_000_000_000


def choose_insertion(
    declared: LocatedDeclaration, kind: PlaceboKind, draw: Random
) -> tuple[int, bytes]:
    """Return a random offset in a file, and a text without effect to insert there.

    In a function it is a statement, before another one or in an empty body. For any other
    declaration it is a comment before the top-level declaration.

    kind  MOVED adds line breaks behind the text; IN_PLACE adds none
    draw  the source of randomness
    """
    root = Parser(GO).parse(declared.source).root_node
    what = declared.member if declared.member is not None else declared.type
    node = root.descendant_for_byte_range(what.start_byte, what.end_byte)
    assert node is not None, 'a declaration of this very source'
    moved = choose_line_breaks(kind, draw)
    is_function = declared.member is not None and declared.member.kind == 'method'
    if is_function and (places := list(_list_statement_offsets(node))):
        return draw.choice(places), _invent_statement(draw) + (moved or b'; ')
    return _find_top_declaration(node).start_byte, b'/* %b */%b' % (
        invent_word(draw),
        moved or b' ',
    )


def _list_statement_offsets(declaration: Node) -> Iterator[int]:
    """Yield the offsets before all statements, and before the closing brackets of empty bodies."""
    waiting = [declaration]
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.named_children)
        if node.type in _LISTS:
            statements = [
                statement for statement in node.named_children if statement.type not in _OTHER
            ]
            yield from (statement.start_byte for statement in statements)
            if node.type == 'block' and not node.named_children:
                yield node.end_byte - 1


def _find_top_declaration(node: Node) -> Node:
    """Return the top-level declaration that contains a node; a comment can be put before it."""
    while node.parent is not None and node.parent.parent is not None:
        node = node.parent
    return node


def _invent_statement(draw: Random) -> bytes:
    words = (invent_word(draw), draw.randint(100_000, _MOST_NUMBER), invent_word(draw))
    return b'_ = map[string]int{"%b": %d}["%b"]' % words
