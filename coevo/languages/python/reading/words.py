"""Split a Python declaration, cut out of its file, into words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.python.reading.tokens import PYTHON, PythonToken, PythonTokens, TokenRole
from coevo.languages.words import DeclarationPart, Word

# Below decorators the head keeps the indentation that the first decorator has lost.
_HEAD = re.compile(rb'\n([ \t]+)(?:@|def\b|async\b|class\b)')
_PARTS: Mapping[TokenRole | None, DeclarationPart] = {
    None: DeclarationPart.REST,
    TokenRole.CALLED: DeclarationPart.CALL,
    TokenRole.DEFINED: DeclarationPart.CALL,
    TokenRole.ANNOTATION: DeclarationPart.TYPE,
    TokenRole.ATTRIBUTE: DeclarationPart.MEMBER,
}


@lru_cache(maxsize=1024)
def list_words(source: str) -> tuple[Word, ...]:
    """Return the words of a declaration, in order, with their positions in its text.

    Indentation and ends of statements are words, too; comments and docstrings are not.
    """
    content = source.encode('utf-8', 'replace')
    head = _HEAD.search(content) if content.startswith(b'@') else None
    before = b'if _:\n' + head[1] if head else b''
    whole = before + content
    tokens = PythonTokens(Parser(PYTHON).parse(whole).root_node, whole)
    return tuple(
        _make_words(tokens.slice_bytes([(len(before), len(whole))]).tokens, content, len(before))
    )


def _make_words(tokens: tuple[PythonToken, ...], content: bytes, before: int) -> Iterator[Word]:
    starts = [0] + [i + 1 for i, byte in enumerate(content) if byte == 0x0A]
    for token in tokens:
        at = token.start - before
        line = bisect_right(starts, at) - 1
        column = len(content[starts[line] : at].decode(errors='replace'))
        yield Word(token.text, _PARTS.get(token.role, DeclarationPart.PLAIN), line, column)
