"""Placebos: edits of the code that change its text and its byte code, and nothing that it does.

A test that notices a mutant or an undone change by what it does passes with a placebo. One that reads
sources, class files, dates or anything else that is merely different does not. What exactly is put
in, and where, is drawn anew each time, so that no test can know it beforehand.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from collections.abc import Sequence
from enum import StrEnum
from random import Random

from tree_sitter import Node

from coevo.git.repository import Repository
from coevo.languages.java.reading.calls import inside
from coevo.languages.java.reading.calls import named
from coevo.languages.java.reading.source import JavaSource
from coevo.languages.java.reading.source import read_source
from coevo.languages.text_edits import TextEdits
from coevo.measures.counterparts import Standing
from coevo.measures.counterparts import counterpart
from coevo.measures.counterparts import declared
from coevo.measures.counterparts import declared_type
from coevo.model.records import Dependency
from coevo.model.records import Pair
from coevo.model.records import Revised

_BLOCKS = ('block', 'constructor_body')
_CALLS_ANOTHER_CONSTRUCTOR = 'explicit_constructor_invocation'
_MOST_LINES = 3

# Of a word: whole numbers below the count.
_CALLS = (b'length()', b"indexOf('_')", b"lastIndexOf('.')", b'compareTo("")', b'codePointAt(0)')
_MOST_COUNTED = 130


class PlaceboKind(StrEnum):
    """From what can be noticed most easily to what can be least."""

    MOVED = 'moved'  # lines behind it have other numbers
    IN_PLACE = 'in_place'  # no line has another number


def placebo(
    repository: Repository,
    pair: Pair,
    declarations: Sequence[Dependency],
    kind: PlaceboKind,
    draw: Random,
) -> tuple[tuple[str, bytes], ...]:
    """Files at new, by path, in which each of these declarations is written in another way.

    A method or constructor gets a statement of no effect, somewhere in its body; the rest of a type,
    a type of which a method was removed, and what has no body, a comment, whose lines move what
    debuggers read. What does not stand at new in a Java file is left as it is; no files where
    that is all.
    """
    edited: dict[str, TextEdits] = {}
    for one in declarations:
        found = _standing(repository, pair, one)
        if found is None:
            continue
        edits = edited.setdefault(found.path, TextEdits(found.source))
        at, text = _insertion(read_source(found.source), found, draw)
        lines = b'\n' * draw.randint(1, _MOST_LINES) if kind is PlaceboKind.MOVED else b' '
        edits.insert(at, text + lines)
    return tuple((path, edits.result()) for path, edits in sorted(edited.items()))


def _standing(repository: Repository, pair: Pair, one: Dependency) -> Standing | None:
    if not one.file.endswith('.java'):
        return None
    if one.revised is Revised.REMOVED:
        return counterpart(repository, pair, one)
    return declared(repository, pair, one) or declared_type(repository, pair, one)


def _insertion(source: JavaSource, found: Standing, draw: Random) -> tuple[int, bytes]:
    member = found.member
    places = list(_places(source.node(member))) if member is not None else []
    if places:
        return draw.choice(places), _statement(draw)
    declaration = source.node(member if member is not None else found.type)
    return declaration.start_byte, b'/* %b */' % _word(draw)


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
    name, number = _word(draw), draw.randint(100_000, 1_000_000_000)
    value = b'"%b".%b' % (_word(draw), draw.choice(_CALLS))
    forms = (
        b' int %b = %b;' % (name, value),
        b' long %b = %dL + %b;' % (name, number, value),
        b' double %b = %d.5 - %b;' % (name, number, value),
        b' int %b = %b; %b++;' % (name, value, name),
        b' for (int %b = %b; %b < %d; %b++) { }' % (name, value, name, _MOST_COUNTED, name),
    )
    return draw.choice(forms)


def _word(draw: Random) -> bytes:
    return ''.join(draw.choices(string.ascii_lowercase, k=12)).encode()
