"""Literals in the text of a test, and copies of the test with other literals.

A copy replaces a word or number wherever the literals of the test have it, also as a part of a
longer one: `plural('box')` with the expected `'boxes'` becomes `plural('cox')` and `'coxes'`. Only
the lexical rules of a language are needed. Whether a copy passes or fails is found out by running
it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coevo.languages.prints import LexicalRules

_NUMBER = rb'(?P<number>(?<![\w.])\d+(?:\.\d+)?(?![\w.]))'
_PIECE = re.compile(rb'\d+|[A-Za-z]{3,}')
_ESCAPE = re.compile(rb'\\.', re.DOTALL)
# A shorter text is replaced only where it is a whole piece: it occurs in others by chance.
_LEAST_PART = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralPiece:
    """A word or number in a literal; `start` is its offset in bytes, `literal` that of the literal."""

    start: int
    text: bytes
    literal: int

    @property
    def replacement(self) -> bytes:
        """Another text of the same kind and length: its first letter or digit is the next one.

        The end stays, since it tells more about how a word is treated.
        """
        first = self.text[0]
        step = -1 if self.text[:1] in b'zZ9' else 1
        return bytes([first + step]) + self.text[1:]


def group_words_in_literals(
    rules: LexicalRules, source: bytes, start: int, end: int
) -> Mapping[bytes, tuple[LiteralPiece, ...]]:
    """Return the words and numbers in the literals of a span, each with all of its occurrences.

    Case does not count.
    """
    literals = list(_find_literals(rules, source, start, end))
    texts = {piece[0].lower() for _, text in literals for piece in _PIECE.finditer(text)}
    return {
        wanted: tuple(
            LiteralPiece(start=at + offset, text=text[offset : offset + len(wanted)], literal=at)
            for at, text in literals
            for offset in _find_offsets(text, wanted)
        )
        for wanted in sorted(texts)
    }


def draw_in_turns(
    groups: Mapping[bytes, tuple[LiteralPiece, ...]], key: Callable[[bytes], str]
) -> list[bytes]:
    """Return the words and numbers in the order of a key, but none of a literal before its turn.

    Each literal has one before any has a second one: a docstring or message has many words, and the
    code under test may get none of them.
    """
    turns = Counter[int]()
    drawn: list[tuple[int, bytes]] = []
    for text in sorted(groups, key=key):
        literal = groups[text][0].literal
        drawn.append((turns[literal], text))
        turns[literal] += 1
    return [text for _, text in sorted(drawn, key=lambda each: each[0])]


def _find_literals(
    rules: LexicalRules, source: bytes, start: int, end: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and text of each string and number; escapes in strings are blanks."""
    pattern = re.compile(
        b'(?:' + rules.comment + b')|(?P<string>' + rules.string + b')|' + _NUMBER,
        re.DOTALL | re.VERBOSE,
    )
    for match in pattern.finditer(source, start, end):
        if match.lastgroup == 'string':
            yield match.start(), _ESCAPE.sub(lambda escape: b' ' * len(escape[0]), match[0])
        elif match.lastgroup == 'number':
            yield match.start(), match[0]


def _find_offsets(text: bytes, wanted: bytes) -> Iterator[int]:
    if len(wanted) < _LEAST_PART:
        yield from (piece.start() for piece in _PIECE.finditer(text) if piece[0] == wanted)
        return
    yield from (match.start() for match in re.finditer(re.escape(wanted), text.lower()))


def replace_pieces(source: bytes, pieces: tuple[LiteralPiece, ...]) -> bytes:
    """Return a text with other literals in the place of some."""
    for piece in sorted(pieces, key=lambda piece: piece.start, reverse=True):
        end = piece.start + len(piece.text)
        source = source[: piece.start] + piece.replacement + source[end:]
    return source
