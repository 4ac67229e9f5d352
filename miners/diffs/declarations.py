"""A declaration cut out of a Java file, as words: tokens with their place and what they may name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tree_sitter import Parser

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.java.reading.tokens import Token
from coevo.languages.java.reading.tokens import Tokens
from coevo.languages.java.reading.tokens import outside

# Members are no compilation unit: the grammar wants a type around them.
_BEFORE, _AFTER = b'class _ {\n', b'\n}'
_IDENTIFIERS = ('identifier', 'type_identifier')
_CALLABLE = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A method, constructor, field, initializer or type, as it stands in a file at one end.

    Lines are 1-based and inclusive; source is its text, whether its comments are in it or not.
    """

    file: str
    start_line: int
    end_line: int
    source: str


def rest(path: str, content: bytes, type_: DeclaredType) -> Declaration:
    """A type of a file without its methods, constructors and nested types."""
    holes = [(m.start_byte, m.end_byte) for m in type_.members if m.kind in _CALLABLE]
    holes += [
        (other.start_byte, other.end_byte)
        for other in parse(content).types
        if type_.start_byte < other.start_byte < type_.end_byte
    ]
    spans = outside((type_.start_byte, type_.end_byte), holes)
    return Declaration(
        file=path,
        start_line=type_.start_line,
        end_line=type_.end_line,
        source=b' '.join(content[start:end] for start, end in spans).decode(errors='replace'),
    )


class DeclarationPart(StrEnum):
    """What a word may name, by its place among others; the rest has to stay as it is."""

    CALL = 'call'  # a method that is declared, invoked or referred to, or a constructor
    TYPE = 'type'
    MEMBER = 'member'  # what stands behind a dot: a field, a nested type, a part of a package
    PLAIN = 'plain'  # a variable, field, type or part of a package
    REST = 'rest'


@dataclass(frozen=True, slots=True)
class Word:
    """A token. The line counts from 0 within the declaration, the column (0-based) in characters."""

    text: str
    part: DeclarationPart
    line: int
    column: int


def same_tokens(old: Declaration, new: Declaration) -> bool:
    """Whether two declarations differ in nothing but comments and formatting."""
    return old.source == new.source or texts(old.source) == texts(new.source)


def texts(source: str) -> tuple[str, ...]:
    """The tokens of a declaration as text."""
    return tuple(word.text for word in words(source))


@lru_cache(maxsize=1024)
def skeleton(source: str) -> tuple[str, ...]:
    """The tokens that no renaming changes; dots aside, of which full names have more or fewer."""
    return tuple(w.text for w in words(source) if w.part is DeclarationPart.REST and w.text != '.')


@lru_cache(maxsize=1024)
def words(source: str) -> tuple[Word, ...]:
    """The words of a declaration, in order."""
    content = source.encode('utf-8', 'replace')
    whole = _BEFORE + content + _AFTER
    tokens = Tokens(Parser(JAVA).parse(whole).root_node, whole)
    inner = tokens.within([(len(_BEFORE), len(_BEFORE) + len(content))]).tokens
    return tuple(_words(inner, whole))


def _words(tokens: tuple[Token, ...], whole: bytes) -> Iterator[Word]:
    starts = [0] + [i + 1 for i, byte in enumerate(whole) if byte == 0x0A]
    kinds = ['', *(token.text for token in tokens), '']
    for number, token in enumerate(tokens):
        line = bisect_right(starts, token.start) - 1
        column = len(whole[starts[line] : token.start].decode(errors='replace'))
        part = _part(token.kind, kinds[number], kinds[number + 2])
        yield Word(token.text, part, line - 1, column)


def _part(kind: str, before: str, after: str) -> DeclarationPart:
    if kind not in _IDENTIFIERS:
        return DeclarationPart.REST
    if kind == 'type_identifier' or before == '@':
        return DeclarationPart.TYPE
    if after == '(' or before == '::':
        return DeclarationPart.CALL
    return DeclarationPart.MEMBER if before == '.' else DeclarationPart.PLAIN
