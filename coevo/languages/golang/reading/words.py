"""Splits a Go declaration that was cut out of its file into words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.golang.reading.token_walk import GO, GoTokenIndex
from coevo.languages.golang.reading.tokens import GoToken, GoTokenRole
from coevo.languages.words import DeclarationPart, Word

_PARTS: Mapping[GoTokenRole | None, DeclarationPart] = {
    None: DeclarationPart.REST,
    GoTokenRole.CALLED: DeclarationPart.CALL,
    GoTokenRole.DEFINED: DeclarationPart.CALL,
    GoTokenRole.TYPE: DeclarationPart.TYPE,
    GoTokenRole.CREATED: DeclarationPart.TYPE,
    GoTokenRole.ATTRIBUTE: DeclarationPart.MEMBER,
    GoTokenRole.KEY: DeclarationPart.MEMBER,
}


@lru_cache(maxsize=1024)
def list_words(source: str) -> tuple[Word, ...]:
    """Return the tokens of a declaration in order, each with its position and what it may name.

    The end of a statement is a word, too.
    """
    content = source.encode('utf-8', 'replace')
    tokens = GoTokenIndex(Parser(GO).parse(content).root_node, content)
    return tuple(_make_words(tokens, content))


@lru_cache(maxsize=1024)
def list_bound_names(source: str) -> frozenset[str]:
    """Return the names that a declaration binds inside itself: parameters and local variables."""
    content = source.encode('utf-8', 'replace')
    tokens = GoTokenIndex(Parser(GO).parse(content).root_node, content)
    return frozenset(token.text for _, token in tokens if token.role is GoTokenRole.BOUND)


def _make_words(tokens: Iterable[tuple[int, GoToken]], content: bytes) -> Iterator[Word]:
    starts = [0] + [i + 1 for i, byte in enumerate(content) if byte == 0x0A]
    for at, token in tokens:
        line = bisect_right(starts, at) - 1
        column = len(content[starts[line] : at].decode(errors='replace'))
        yield Word(token.text, _PARTS.get(token.role, DeclarationPart.PLAIN), line, column)
