"""Statements and comments of no effect, in Java. Fulfils `coevo.languages.placebos.PlaceboInsertion`."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tree_sitter import Node

from coevo.languages.java.reading.calls import inside
from coevo.languages.java.reading.calls import named
from coevo.languages.java.reading.source import read_source
from coevo.languages.placebos import PlaceboKind
from coevo.languages.placebos import line_breaks
from coevo.languages.placebos import word
from coevo.languages.undoing import LocatedDeclaration

_BLOCKS = ('block', 'constructor_body')
_CALLS_ANOTHER_CONSTRUCTOR = 'explicit_constructor_invocation'

# Of a word: whole numbers below the count.
_CALLS = (b'length()', b"indexOf('_')", b"lastIndexOf('.')", b'compareTo("")', b'codePointAt(0)')
_MOST_COUNTED = 130


def insertion(declared: LocatedDeclaration, kind: PlaceboKind, draw: Random) -> tuple[int, bytes]:
    at, text = _drawn(declared, draw)
    lines = line_breaks(kind, draw) or b' '
    return at, text + lines


def _drawn(declared: LocatedDeclaration, draw: Random) -> tuple[int, bytes]:
    source, member = read_source(declared.source), declared.member
    places = list(_places(source.node(member))) if member is not None else []
    if places:
        return draw.choice(places), _statement(draw)
    declaration = source.node(member if member is not None else declared.type)
    return declaration.start_byte, b'/* %b */' % word(draw)


def _places(declaration: Node) -> Iterator[int]:
    """Where a statement can stand: before one that is there, which can be reached if it compiles."""
    for block in inside(declaration, classes=True):
        if block.type not in _BLOCKS:
            continue
        statements = named(block)
        calls = [s for s in statements if s.type == _CALLS_ANOTHER_CONSTRUCTOR]
        if calls:  # nothing may stand before it
            yield calls[0].end_byte
            statements = statements[statements.index(calls[0]) + 1 :]
        elif not statements:
            yield block.end_byte - 1
        yield from (statement.start_byte for statement in statements)


def _statement(draw: Random) -> bytes:
    """A number in a variable of its own. A call and a text go into the class's constants with it: who
    compares these, as those of a change or of a mutant that calls something else, sees them, too."""
    name, number = word(draw), draw.randint(100_000, 1_000_000_000)
    value = b'"%b".%b' % (word(draw), draw.choice(_CALLS))
    forms = (
        b' int %b = %b;' % (name, value),
        b' long %b = %dL + %b;' % (name, number, value),
        b' double %b = %d.5 - %b;' % (name, number, value),
        b' int %b = %b; %b++;' % (name, value, name),
        b' for (int %b = %b; %b < %d; %b++) { }' % (name, value, name, _MOST_COUNTED, name),
    )
    return draw.choice(forms)
