"""Split a Python source into words and statements: comments and strings, encodings, first lines of
statements.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.prints import LexicalRules
from coevo.languages.python.reading.tokens import PYTHON, PythonToken, PythonTokens, TokenRole
from coevo.languages.reading import DeclarationPart, Word

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


# The comments and strings of Python for the lexer.
#
# Source: https://docs.python.org/3/reference/lexical_analysis.html.

LEXIS = LexicalRules(
    comment=rb'[#][^\n]*+',
    string=rb'''(?:
        """(?:\\.|[^"\\]++|"(?!""))*+"""
        | \'\'\'(?:\\.|[^'\\]++|'(?!\'\'))*+\'\'\'
        | (?!""")"(?:\\.|[^"\\\n]++)*+"
        | (?!\'\'\')'(?:\\.|[^'\\\n]++)*+'
    )''',
    prefix=rb'[rR]?[bB][rR]? | [rRuU]',
    template=rb'[rR]?[fFtT][rR]?',
    test_mark=re.compile(rb'\bdef\s+(?:test|runTest)'),
    is_spelled_freely=True,
    # A test annotated with `-> None` equals one without the annotation.
    result=(b'-', b'>', b'None'),
    before_block=(b':',),
)


def decode_source(source: bytes) -> str:
    """Return the text of a source, decoded as it declares, with line feeds as line ends.

    Undecodable bytes are replaced; an unknown encoding is read as UTF-8. A missing line end at the
    end is added.
    """
    lines = source.replace(b'\r\n', b'\n').replace(b'\r', b'\n')
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(lines).readline)
    except SyntaxError:
        encoding = 'utf-8'
    text = lines.decode(encoding, 'replace')
    return text if not text or text.endswith('\n') else f'{text}\n'


# Map lines to the first line of their statement, as coverage.py counts them.
#
# For example, a condition in parentheses over several lines is one line, its first.

_HOLDS = frozenset(
    {
        *('module', 'block', 'decorated_definition', 'function_definition', 'class_definition'),
        *('if_statement', 'elif_clause', 'else_clause', 'for_statement', 'while_statement'),
        *('try_statement', 'except_clause', 'except_group_clause', 'finally_clause'),
        *('with_statement', 'match_statement', 'case_clause', 'ERROR'),
    }
)
_BEGINS = ('_statement', '_definition', '_clause', 'decorator')


def add_first_statement_lines(lines: Collection[int], source: bytes) -> frozenset[int]:
    """Return the lines together with the first line of the innermost statement that contains each.

    A line of a compound statement's head counts as the first line of this head.
    """
    begins = sorted({0, *_find_statement_starts(source)})
    first = {begins[bisect_right(begins, line) - 1] for line in lines}
    return frozenset(lines) | (first - {0})


def _find_statement_starts(source: bytes) -> Iterator[int]:
    cursor = Parser(PYTHON).parse(source).walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type.endswith(_BEGINS):
            yield node.start_point.row + 1
        if node.type in _HOLDS and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
