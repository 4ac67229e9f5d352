"""A declaration of Python cut out of its file, as words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from collections.abc import Mapping
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.python.reading.tokens import PythonToken
from coevo.languages.python.reading.tokens import PythonTokens
from coevo.languages.python.reading.tokens import Role
from coevo.languages.words import DeclarationPart
from coevo.languages.words import Word

# Below decorators the head stands where the first decorator stood before it was cut out.
_HEAD = re.compile(rb'\n([ \t]+)(?:@|def\b|async\b|class\b)')
_PARTS: Mapping[Role | None, DeclarationPart] = {
    None: DeclarationPart.REST,
    Role.CALLED: DeclarationPart.CALL,
    Role.DEFINED: DeclarationPart.CALL,
    Role.ANNOTATION: DeclarationPart.TYPE,
    Role.ATTRIBUTE: DeclarationPart.MEMBER,
}


@lru_cache(maxsize=1024)
def words(source: str) -> tuple[Word, ...]:
    """The words of a declaration, in order; indentation and the ends of statements are words, too."""
    content = source.encode('utf-8', 'replace')
    found = _HEAD.search(content) if content.startswith(b'@') else None
    before = b'if _:\n' + found[1] if found else b''
    whole = before + content
    tokens = PythonTokens(Parser(PYTHON).parse(whole).root_node, whole)
    return tuple(_words(tokens.within([(len(before), len(whole))]).tokens, content, len(before)))


def _words(tokens: tuple[PythonToken, ...], content: bytes, before: int) -> Iterator[Word]:
    starts = [0] + [i + 1 for i, byte in enumerate(content) if byte == 0x0A]
    for token in tokens:
        at = token.start - before
        line = bisect_right(starts, at) - 1
        column = len(content[starts[line] : at].decode(errors='replace'))
        yield Word(token.text, _PARTS.get(token.role, DeclarationPart.PLAIN), line, column)
