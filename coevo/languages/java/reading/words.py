"""Split a Java declaration, cut out of its file, into words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.java.reading.tokens import JAVA, JavaToken, JavaTokens
from coevo.languages.words import DeclarationPart, Word

# Members are not a compilation unit; the grammar needs a type around them.
_BEFORE, _AFTER = b'class _ {\n', b'\n}'
_IDENTIFIERS = ('identifier', 'type_identifier')


@lru_cache(maxsize=1024)
def list_words(source: str) -> tuple[Word, ...]:
    """Return the tokens of a declaration as words with their positions and kinds, in order.

    `source` is the declaration alone. Comments are left out.
    """
    content = source.encode('utf-8', 'replace')
    whole = _BEFORE + content + _AFTER
    tokens = JavaTokens(Parser(JAVA).parse(whole).root_node, whole)
    inner = tokens.slice_spans([(len(_BEFORE), len(_BEFORE) + len(content))]).tokens
    return tuple(_make_words(inner, whole))


def _make_words(tokens: tuple[JavaToken, ...], whole: bytes) -> Iterator[Word]:
    starts = [0] + [i + 1 for i, byte in enumerate(whole) if byte == 0x0A]
    kinds = ['', *(token.text for token in tokens), '']
    for number, token in enumerate(tokens):
        line = bisect_right(starts, token.start) - 1
        column = len(whole[starts[line] : token.start].decode(errors='replace'))
        part = _classify_part(token.kind, kinds[number], kinds[number + 2])
        yield Word(token.text, part, line - 1, column)


def _classify_part(kind: str, before: str, after: str) -> DeclarationPart:
    if kind not in _IDENTIFIERS:
        return DeclarationPart.REST
    if kind == 'type_identifier' or before == '@':
        return DeclarationPart.TYPE
    if after == '(' or before == '::':
        return DeclarationPart.CALL
    return DeclarationPart.MEMBER if before == '.' else DeclarationPart.PLAIN
