"""Places of code and calls in a method, and what stays of the method without them."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from miners.declarations import Part
from miners.declarations import Word
from miners.declarations import words
from miners.refactorings import Location

_STARTS = frozenset({'{', '}', ';'})
# What may stand, beside names, before the value that a statement declares, assigns or returns.
_SIMPLE = frozenset(
    {'.', ',', '<', '>', '[', ']', '?', 'final', 'this', 'extends'}
    | {'boolean', 'byte', 'char', 'double', 'float', 'int', 'long', 'short'}
)
_NAMES = (Part.PLAIN, Part.TYPE, Part.MEMBER)


def code_places(method: Location, code: Iterable[Location], *, value_only: bool) -> list[int]:
    """The places of pieces of a method's words.

    value_only  the last statement without where its value goes: `int sum =`, `return`
    """
    whole = words(method.source)
    places = sorted({place for piece in code for place in _places(whole, method, piece)})
    if not value_only or not places or whole[places[-1]].text != ';':
        return places
    last = places[-1]
    start = _start(whole, last)
    heads = (n for n in range(start, last) if whole[n].text in ('=', 'return'))
    head = next(heads, None)
    if head is not None and all(map(_is_simple, whole[start:head])):
        return [place for place in places if place < start or head < place < last]
    return places


def call_places(method: Location, call: Location, *, value_only: bool) -> list[int]:
    """The places of a call in a method, with its whole statement if that does nothing else.

    value_only  never the statement
    """
    whole = words(method.source)
    places = list(_places(whole, method, call))
    if value_only or not places:
        return places
    end = places[-1] + 1
    alone = _start(whole, places[0]) == places[0] or whole[places[0] - 1].text in (')', 'else')
    return [*places, end] if alone and whole[end].text == ';' else places


def at(method: Location, places: Iterable[int]) -> tuple[Word, ...]:
    """The words of a method at some places."""
    whole = words(method.source)
    return tuple(whole[place] for place in places)


def without(method: Location, places: Collection[int]) -> tuple[Word, ...]:
    """The words of a method at all other places."""
    return tuple(word for n, word in enumerate(words(method.source)) if n not in places)


def _places(whole: Sequence[Word], method: Location, piece: Location) -> Iterator[int]:
    begin = piece.start_line, piece.start_column
    end = piece.end_line, piece.end_column
    for place, word in enumerate(whole):
        shift = max(method.start_column, 1) if word.line == 0 else 1
        if begin <= (method.start_line + word.line, word.column + shift) < end:
            yield place


def _start(sequence: Sequence[Word], place: int) -> int:
    """Where the statement begins in which a word stands."""
    while place > 0 and sequence[place - 1].text not in _STARTS:
        place -= 1
    return place


def _is_simple(word: Word) -> bool:
    return word.part in _NAMES or word.text in _SIMPLE
