"""What stays of a method without the code that was extracted from it or inlined into it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from miners.declarations import Part
from miners.declarations import Word
from miners.declarations import words
from miners.refactorings import Location

_NAMES = (Part.PLAIN, Part.TYPE, Part.MEMBER)
_STARTS = frozenset({'{', '}', ';'})
# What may stand before a call whose value a whole statement declares, assigns or returns.
_SIMPLE = frozenset({'.', ',', '<', '>', '[', ']', '?', 'final', 'return', 'this', 'extends'})
_PRIMITIVES = frozenset(
    {'boolean', 'byte', 'char', 'double', 'float', 'int', 'long', 'short', 'var'}
)
_HEADS = frozenset({')', 'else', '->'})


def remainder(
    method: Location, code: Iterable[Location], calls: Iterable[Location]
) -> tuple[Word, ...]:
    """The words of a method without pieces of code, and without calls.

    A call goes with its whole statement where that does nothing but call, or declare, assign or
    return what the call gives.
    """
    whole = words(method.source)
    gone = {place for piece in code for place in _places(whole, method, piece)}
    for call in calls:
        inner = list(_places(whole, method, call))
        gone.update(_statement(whole, inner[0], inner[-1] + 1) if inner else ())
    return tuple(word for place, word in enumerate(whole) if place not in gone)


def _places(whole: Sequence[Word], method: Location, piece: Location) -> Iterator[int]:
    begin = piece.start_line, piece.start_column
    end = piece.end_line, piece.end_column
    for place, word in enumerate(whole):
        shift = max(method.start_column, 1) if word.line == 0 else 1
        if begin <= (method.start_line + word.line, word.column + shift) < end:
            yield place


def _statement(whole: Sequence[Word], first: int, end: int) -> range:
    """The places of a call, or of its statement."""
    if end == len(whole) or whole[end].text != ';':
        return range(first, end)
    if whole[first - 1].text in _HEADS:
        return range(first, end + 1)
    start = first
    while start > 0 and whole[start - 1].text not in _STARTS:
        start -= 1
    before = whole[start:first]
    if before and before[-1].text == '=':
        before = before[:-1]
    if all(_is_simple(word) for word in before):
        return range(start, end + 1)
    return range(first, end)


def _is_simple(word: Word) -> bool:
    return word.part in _NAMES or word.text in _SIMPLE or word.text in _PRIMITIVES
