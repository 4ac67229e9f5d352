"""Cut a text into slices of files, for readers who have the files but may not be given the text.

Whole lines are matched first, however short. The rest is matched piece by piece, beginning at the
start of a word. Text that is in no file remains as words, as do most runs of fewer than `LEAST`
characters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from coevo.snapshots.code_free.recipes import TextPiece, split_git_lines

LEAST = 8
"""The minimal number of characters of a slice that is no whole line."""

# A line or word in very many places is looked up in the first ones only: more hardly give a longer
# slice.
_MOST_PLACES = 16

# The number of characters of all files that are searched for parts of lines, from the first file
# on.
_MOST_SEARCHED = 4_000_000

_WORD = re.compile(r'\w+|[^\w\s]+')
_SIGNS = ('+', '-', ' ')

Place = tuple[int, int]
"""The number of a source, and an offset in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SliceMatch:
    source: int
    start: int
    length: int
    before: int = 0
    """The number of characters before the searched position that belong to the match, too."""


class SliceIndex:
    """An index of texts, by their numbers, from which slices for other texts are cut."""

    def __init__(self, texts: Sequence[tuple[int, str]]) -> None:
        self._texts = dict(texts)

    @cached_property
    def _places_by_line(self) -> dict[str, list[Place]]:
        """The places of lines, by their text without white space around it."""
        places_by_line: dict[str, list[Place]] = defaultdict(list)
        for number, text in self._texts.items():
            at = 0
            for line in split_git_lines(text):
                bare = line.strip()
                places = places_by_line[bare]
                if bare and len(places) < _MOST_PLACES:
                    places.append((number, at + line.index(bare)))
                at += len(line)
        return places_by_line

    @cached_property
    def _places_by_prefix(self) -> dict[str, list[Place]]:
        """The places of words, by the first `LEAST` characters from there."""
        places_by_prefix: dict[str, list[Place]] = defaultdict(list)
        left = _MOST_SEARCHED
        for number, text in self._texts.items():
            for word in _WORD.finditer(text, 0, left):
                places = places_by_prefix[text[word.start() : word.start() + LEAST]]
                if len(places) < _MOST_PLACES:
                    places.append((number, word.start()))
            left = max(left - len(text), 0)
        return places_by_prefix

    def make_recipe(self, text: str, *, is_patch: bool) -> tuple[TextPiece, ...]:
        """Return the pieces of which a text consists: slices of the indexed texts, and words.

        is_patch  whether the text is a patch, in which consecutive lines with the same sign can be
                  one slice
        """
        pieces = self._match_patch(text) if is_patch else self._match_text(text)
        return tuple(_join_words(pieces))

    def _match_patch(self, text: str) -> Iterator[TextPiece]:
        lines = list(split_git_lines(text))
        at = 0
        while at < len(lines):
            sign = lines[at][:1]
            run = self._find_line_run(lines, at) if sign in _SIGNS else None
            if run is None:
                yield TextPiece(words=sign)
                yield from self._match_text(lines[at][1:])
                at += 1
            else:
                match, count = run
                yield TextPiece(
                    source=match.source, start=match.start, length=match.length, prefix=sign
                )
                at += count

    def _find_line_run(self, lines: Sequence[str], at: int) -> tuple[_SliceMatch, int] | None:
        """Return the longest slice that begins with a patch's line `at`, and its number of lines.

        The signs of the lines do not count. None if no indexed text has the line.
        """
        best: tuple[_SliceMatch, int] | None = None
        first = lines[at][1:]
        bare = first.strip()
        indent = first.index(bare)
        for number, offset in self._places_by_line.get(bare, ()) if bare else ():
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
            # A line without a line end may be cut from a longer one; an empty slice would have no
            # line.
            if count and (best is None or count > best[1]):
                best = _SliceMatch(source=number, start=start, length=end - start), count
        return best

    def _match_text(self, text: str) -> Iterator[TextPiece]:
        """Yield the pieces of a text that is no patch.

        Whole lines are matched first, then runs of words; what is in no indexed text remains as
        words.
        """
        at = emitted_end = 0
        while at < len(text):
            match = self._find_match(text, at, emitted_end)
            if match is None:
                at = _find_next_word(text, at)
                continue
            if at - match.before > emitted_end:
                yield TextPiece(words=text[emitted_end : at - match.before])
            yield TextPiece(source=match.source, start=match.start, length=match.length)
            at = emitted_end = at - match.before + match.length
        if emitted_end < len(text):
            yield TextPiece(words=text[emitted_end:])

    def _find_match(self, text: str, at: int, emitted_end: int) -> _SliceMatch | None:
        """Return the longest match around a position; None if there is none.

        A match of less than a line needs at least `LEAST` characters.

        told  the end of the part of the text that already has pieces
        """
        start, end = text.rfind('\n', 0, at) + 1, text.find('\n', at)
        bare = (text[at:] if end < 0 else text[at:end]).rstrip()
        places = self._places_by_line.get(bare, ()) if bare and not text[start:at].strip() else ()
        least = len(bare) if places else LEAST
        candidates = (
            _extend_match(text, at, emitted_end, number, self._texts[number], offset)
            for number, offset in places or self._places_by_prefix.get(text[at : at + LEAST], ())
        )
        long = [match for match in candidates if match.length >= least]
        return max(long, key=lambda match: match.length, default=None)


def _extend_match(
    text: str, at: int, emitted_end: int, number: int, source: str, offset: int
) -> _SliceMatch:
    """Return a match around two positions, extended as far as both texts are equal.

    It is extended in both directions, but not before `told` in the text.
    """
    after = _count_common_characters(text, at, source, offset)
    before = 0
    while (
        before < min(at - emitted_end, offset)
        and text[at - before - 1] == source[offset - before - 1]
    ):
        before += 1
    return _SliceMatch(source=number, start=offset - before, length=before + after, before=before)


def _count_common_characters(one: str, at: int, other: str, offset: int) -> int:
    """Return the number of equal characters from both positions on."""
    length, step = 0, 64
    while step:
        part = one[at + length : at + length + step]
        if len(part) == step and other.startswith(part, offset + length):
            length += step
            step *= 2
        else:
            step //= 2
    return length


def _find_next_word(text: str, at: int) -> int:
    word = _WORD.match(text, at)
    after = _WORD.search(text, word.end() if word else at)
    return after.start() if after else len(text)


def _join_words(pieces: Iterator[TextPiece]) -> Iterator[TextPiece]:
    """Yield the pieces, with adjacent pieces of words joined to one."""
    words = ''
    for piece in pieces:
        if piece.source is None:
            words += piece.words
            continue
        if words:
            yield TextPiece(words=words)
            words = ''
        yield piece
    if words:
        yield TextPiece(words=words)
