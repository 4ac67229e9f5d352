"""Restricts submitted Go files, and splits a declaration that was cut out of its file into words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.golang.reading.declared import list_declarations
from coevo.languages.golang.reading.imports import list_imports
from coevo.languages.golang.reading.token_walk import GO, GoTokenIndex
from coevo.languages.golang.reading.tokens import GoToken, GoTokenRole
from coevo.languages.reading import DeclarationPart, Word

_BEFORE = ('TestMain', 'init')
_IMPORTS = ('C', 'unsafe')

# The compiler obeys a directive wherever a comment begins with it.
_DIRECTIVE = re.compile(rb'//go:(linkname|cgo_\w+)')

# For texts that the parser does not read as the compiler does.
_FUNCTION = re.compile(rb'\bfunc\s+(TestMain|init)\s*[(\[]')
_PATH = re.compile(rb'["`](C|unsafe)["`]')


def explain_refusal(source: bytes, project_files: Sequence[bytes]) -> str | None:
    """Return a sentence on why a submitted file is refused; None if it is accepted.

    It is refused for a forbidden construct, such as `TestMain`, that it has more often than any
    single one of the project's own files (`own`).
    """
    known: Counter[str] = Counter()
    for each in project_files:
        known |= Counter(_list_forbidden(each))
    more = Counter(_list_forbidden(source)) - known
    return next((f'a submitted file may not {what}' for what in sorted(more)), None)


def _list_forbidden(source: bytes) -> Iterator[str]:
    root = Parser(GO).parse(source).root_node
    for directive in _DIRECTIVE.findall(source):
        yield f'have //go:{directive.decode()}'
    if root.has_error:
        yield from (f'declare {name.decode()}' for name in _FUNCTION.findall(source))
        yield from (f'import "{path.decode()}"' for path in _PATH.findall(source))
        return
    for declaration in list_declarations(root, source):
        if declaration.kind == 'func' and declaration.receiver is None:
            yield from (f'declare {name}' for name in declaration.names if name in _BEFORE)
    for line in list_imports(root, source):
        if line.path in _IMPORTS:
            yield f'import "{line.path}"'
        elif '\\' in line.path:
            yield 'import a path that is written with escapes'


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
