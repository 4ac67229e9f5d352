"""Literals in the text of a test, and copies of the test with other literals.

A copy replaces a word of the strings, or a number, wherever the test has it: `slug('Two Words')`
with the expected `'two-words'` becomes `slug('Two Wordt')` and `'two-wordt'`. Only the lexical rules
of a language are needed. Whether a copy passes or fails is found out by running it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coevo.languages.prints import LexicalRules

_NUMBER = rb'(?P<number>(?<![\w.])\d+(?:\.\d+)?(?![\w.]))'
_PIECE = re.compile(rb'\d+(?:\.\d+)?|[A-Za-z]{3,}')
_ESCAPE = re.compile(rb'\\.', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralPiece:
    """A number, or a word or number within a string; offsets are in bytes."""

    start: int
    end: int
    text: bytes

    @property
    def replacement(self) -> bytes:
        """Another text of the same kind and length: the last letter or digit is the next one."""
        last = self.text[-1:]
        following = bytes([last[0] + 1])
        if last in b'zZ9':
            following = bytes([last[0] - 1])
        return self.text[:-1] + following


def group_literals(
    rules: LexicalRules, source: bytes, start: int, end: int
) -> Mapping[bytes, tuple[LiteralPiece, ...]]:
    """Return the pieces of literals in a span of a file, grouped by their text in lower case."""
    groups: dict[bytes, list[LiteralPiece]] = defaultdict(list)
    for piece in _find_pieces(rules, source, start, end):
        groups[piece.text.lower()].append(piece)
    return {text: tuple(pieces) for text, pieces in groups.items()}


def _find_pieces(
    rules: LexicalRules, source: bytes, start: int, end: int
) -> Iterator[LiteralPiece]:
    pattern = re.compile(
        b'(?:' + rules.comment + b')|(?P<string>' + rules.string + b')|' + _NUMBER,
        re.DOTALL | re.VERBOSE,
    )
    for found in pattern.finditer(source, start, end):
        if found.lastgroup is None:
            continue
        at, text = found.start(), found[0]
        if found.lastgroup == 'string':
            text = _ESCAPE.sub(lambda escape: b' ' * len(escape[0]), text)
        for piece in _PIECE.finditer(text):
            yield LiteralPiece(start=at + piece.start(), end=at + piece.end(), text=piece[0])


def replace_pieces(source: bytes, pieces: tuple[LiteralPiece, ...]) -> bytes:
    """Return a text with other literals in the place of some."""
    for piece in sorted(pieces, key=lambda piece: piece.start, reverse=True):
        source = source[: piece.start] + piece.replacement + source[piece.end :]
    return source
