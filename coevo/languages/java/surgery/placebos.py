"""Insert statements and comments without effect into Java code.

Implements `coevo.languages.measures.PlaceboInsertion`.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tree_sitter import Node

from coevo.languages.java.reading.source import (
    iterate_nodes,
    list_children_without_comments,
    parse_java_source,
)
from coevo.languages.java.surgery.plain_values import CONSTRUCTOR_CALL
from coevo.languages.measures import (
    LocatedDeclaration,
    PlaceboKind,
    choose_line_breaks,
    invent_word,
)

_BLOCKS = ('block', 'constructor_body')

# Calls on a string literal that return integers; the results are below _MOST_COUNTED.
_CALLS = (b'length()', b"indexOf('_')", b"lastIndexOf('.')", b'compareTo("")', b'codePointAt(0)')
_MOST_COUNTED = 130


def choose_insertion(
    declared: LocatedDeclaration, kind: PlaceboKind, draw: Random
) -> tuple[int, bytes]:
    """Return the offset and text of a statement or comment without effect for a declaration.

    A statement is chosen if the declaration is a member with a body; otherwise a comment before it.
    `draw` decides the place and the text. `kind` decides the line breaks in it.
    """
    at, text = _draw_insertion(declared, draw)
    lines = choose_line_breaks(kind, draw) or b' '
    return at, text + lines


def _draw_insertion(declared: LocatedDeclaration, draw: Random) -> tuple[int, bytes]:
    source, member = parse_java_source(declared.source), declared.member
    places = list(_find_insertion_offsets(source.find_node(member))) if member is not None else []
    if places:
        return draw.choice(places), _make_statement(draw)
    declaration = source.find_node(member if member is not None else declared.type)
    return declaration.start_byte, b'/* %b */' % invent_word(draw)


def _find_insertion_offsets(declaration: Node) -> Iterator[int]:
    """Yield the offsets in a declaration where a statement may be inserted.

    They lie before existing statements, which are reachable if the code compiles, and in empty
    blocks. A call of another constructor stays first.
    """
    for block in iterate_nodes(declaration, into_local_classes=True):
        if block.type not in _BLOCKS:
            continue
        statements = list_children_without_comments(block)
        calls = [s for s in statements if s.type == CONSTRUCTOR_CALL]
        if calls:  # it must remain the first statement
            yield calls[0].end_byte
            statements = statements[statements.index(calls[0]) + 1 :]
        elif not statements:
            yield block.end_byte - 1
        yield from (statement.start_byte for statement in statements)


def _make_statement(draw: Random) -> bytes:
    """Return a random statement that only stores a number in a new variable.

    Its call and string also enter the class's constants. A test that compares constants therefore
    notices a placebo, just as it notices a change or a mutant that calls another method.
    """
    name, number = invent_word(draw), draw.randint(100_000, 1_000_000_000)
    value = b'"%b".%b' % (invent_word(draw), draw.choice(_CALLS))
    forms = (
        b' int %b = %b;' % (name, value),
        b' long %b = %dL + %b;' % (name, number, value),
        b' double %b = %d.5 - %b;' % (name, number, value),
        b' int %b = %b; %b++;' % (name, value, name),
        b' for (int %b = %b; %b < %d; %b++) { }' % (name, value, name, _MOST_COUNTED, name),
    )
    return draw.choice(forms)
