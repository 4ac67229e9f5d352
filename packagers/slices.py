"""A text as slices of files, for those who have the files and may not be given the text.

Whole lines come first, however short; what is left is looked for piece by piece, from the start of a word.
What then is in no file, in runs of less than `LEAST` characters at least, stands as words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from coevo.snapshots.code_free.recipes import Piece
from coevo.snapshots.code_free.recipes import lines_of

LEAST = 8
"""Characters of the shortest slice that is no whole line."""

# Of what stands in very many places the first ones: more of them find hardly a longer slice.
_MOST_PLACES = 16

# Characters of the files that are looked through for less than a line; the first ones come first.
_MOST_SEARCHED = 4_000_000

_WORD = re.compile(r'\w+|[^\w\s]+')
_SIGNS = ('+', '-', ' ')

Place = tuple[int, int]
"""The number of a source, and where in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    source: int
    start: int
    length: int
    before: int = 0
    """How many characters ahead of where it was looked for belong to it, too."""


class Shelf:
    """Files, by their numbers, as texts that slices are cut of."""

    def __init__(self, texts: Sequence[tuple[int, str]]) -> None:
        self._texts = dict(texts)

    @cached_property
    def _lines(self) -> dict[str, list[Place]]:
        """Where lines stand, by their text without white space around it."""
        found: dict[str, list[Place]] = defaultdict(list)
        for number, text in self._texts.items():
            at = 0
            for line in lines_of(text):
                bare = line.strip()
                places = found[bare]
                if bare and len(places) < _MOST_PLACES:
                    places.append((number, at + line.index(bare)))
                at += len(line)
        return found

    @cached_property
    def _starts(self) -> dict[str, list[Place]]:
        """Where words start, by the first characters from there."""
        found: dict[str, list[Place]] = defaultdict(list)
        left = _MOST_SEARCHED
        for number, text in self._texts.items():
            for word in _WORD.finditer(text, 0, left):
                places = found[text[word.start() : word.start() + LEAST]]
                if len(places) < _MOST_PLACES:
                    places.append((number, word.start()))
            left = max(left - len(text), 0)
        return found

    def recipe(self, text: str, *, is_patch: bool) -> tuple[Piece, ...]:
        """The pieces of a text; of a patch, runs of lines with the same sign in front are one slice."""
        pieces = self._patch(text) if is_patch else self._plain(text)
        return tuple(_joined(pieces))

    def _patch(self, text: str) -> Iterator[Piece]:
        lines = list(lines_of(text))
        at = 0
        while at < len(lines):
            sign = lines[at][:1]
            run = self._run(lines, at) if sign in _SIGNS else None
            if run is None:
                yield Piece(words=sign)
                yield from self._plain(lines[at][1:])
                at += 1
            else:
                match, count = run
                yield Piece(
                    source=match.source, start=match.start, length=match.length, prefix=sign
                )
                at += count

    def _run(self, lines: Sequence[str], at: int) -> tuple[_Match, int] | None:
        """The longest slice that begins with this line but for its sign, and how many lines it has."""
        best: tuple[_Match, int] | None = None
        first = lines[at][1:]
        bare = first.strip()
        indent = first.index(bare)
        for number, offset in self._lines.get(bare, ()) if bare else ():
            text = self._texts[number]
            start = end = offset - indent
            if start < 0 or text[start - 1 : start] not in ('', '\n'):
                continue
            count = 0
            for line in lines[at:]:
                if line[:1] != lines[at][:1] or not text.startswith(line[1:], end):
                    break
                end += len(line) - 1
                count += 1
            # A line without an end may be cut out of a longer one; an empty slice would have no line.
            if count and (best is None or count > best[1]):
                best = _Match(source=number, start=start, length=end - start), count
        return best

    def _plain(self, text: str) -> Iterator[Piece]:
        """By lines, then by words of what is no line of a file."""
        at = told = 0
        while at < len(text):
            match = self._match(text, at, told)
            if match is None:
                at = _next_word(text, at)
                continue
            if at - match.before > told:
                yield Piece(words=text[told : at - match.before])
            yield Piece(source=match.source, start=match.start, length=match.length)
            at = told = at - match.before + match.length
        if told < len(text):
            yield Piece(words=text[told:])

    def _match(self, text: str, at: int, told: int) -> _Match | None:
        """The longest slice around a place; of less than a line only one that is long enough."""
        start, end = text.rfind('\n', 0, at) + 1, text.find('\n', at)
        bare = (text[at:] if end < 0 else text[at:end]).rstrip()
        places = self._lines.get(bare, ()) if bare and not text[start:at].strip() else ()
        least = len(bare) if places else LEAST
        found = (
            _longest(text, at, told, number, self._texts[number], offset)
            for number, offset in places or self._starts.get(text[at : at + LEAST], ())
        )
        long = [match for match in found if match.length >= least]
        return max(long, key=lambda match: match.length, default=None)


def _longest(text: str, at: int, told: int, number: int, source: str, offset: int) -> _Match:
    """As far as both are the same, ahead of the place as well."""
    after = _common(text, at, source, offset)
    before = 0
    while before < min(at - told, offset) and text[at - before - 1] == source[offset - before - 1]:
        before += 1
    return _Match(source=number, start=offset - before, length=before + after, before=before)


def _common(one: str, at: int, other: str, offset: int) -> int:
    """How many characters are the same from there on."""
    length, step = 0, 64
    while step:
        part = one[at + length : at + length + step]
        if len(part) == step and other.startswith(part, offset + length):
            length += step
            step *= 2
        else:
            step //= 2
    return length


def _next_word(text: str, at: int) -> int:
    word = _WORD.match(text, at)
    after = _WORD.search(text, word.end() if word else at)
    return after.start() if after else len(text)


def _joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Words next to each other as one piece."""
    words = ''
    for piece in pieces:
        if piece.source is None:
            words += piece.words
            continue
        if words:
            yield Piece(words=words)
            words = ''
        yield piece
    if words:
        yield Piece(words=words)
