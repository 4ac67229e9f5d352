"""Toy files as text: types and their lines, as records that every language has.

A type of a name in lower case is a module, whose lines are functions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coevo.languages.declarations import MODULE, DeclaredType, Member, SourceFile

_TYPE = re.compile(r'\[(?P<name>[A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\]\s*$')
_LINE = re.compile(r'(?P<name>\w+):\s*(?P<body>.*)$')
_WORD = re.compile(r'[A-Za-z_]')
TOKEN = re.compile(r'\w+|[^\w\s]')
_QUALIFIED = re.compile(r'\b([A-Za-z]\w*)\.(\w+)')
_HELPER = re.compile(r'\buse (_\w+)')
_STRING = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a file with the comments above it; offsets are bytes, lines count from 1."""

    text: str
    full_start: int
    start: int
    end: int
    number: int


@lru_cache(maxsize=1024)
def parse(source: bytes, path: str = '') -> SourceFile:
    return parse_uncached(source)


def parse_uncached(source: bytes) -> SourceFile:
    """Lines that are neither type nor member are errors; the rest of the file is read all the same."""
    types: list[DeclaredType] = []
    heads: list[tuple[Line, list[Member]]] = []
    wrong = False
    for line in _lines(source):
        if _TYPE.match(line.text):
            heads.append((line, []))
        elif heads and (found := _LINE.match(line.text)):
            owner = _TYPE.match(heads[-1][0].text)
            assert owner is not None
            heads[-1][1].append(_member(owner['name'], found['name'], line))
        else:
            wrong = True
    for line, members in heads:
        types.append(_type(line, members))
    return SourceFile(
        package=types[0].package if types else '',
        types=tuple(types),
        has_error=wrong,
        hash=_hash(token for type_ in types for token in _tokens(_text(type_))),
        names=frozenset(re.findall(r'[A-Za-z_]\w*', '\n'.join(_text(t) for t in types))),
    )


def _lines(source: bytes) -> Iterator[Line]:
    """Those that are no comment and not empty."""
    at, above = 0, None
    for number, raw in enumerate(source.splitlines(keepends=True), start=1):
        text = raw.decode(errors='surrogateescape').strip()
        if text.startswith('#'):
            above = at if above is None else above
        elif text:
            end = at + len(raw.rstrip())
            start = at + len(raw) - len(raw.lstrip())
            full = start if above is None else above
            yield Line(text=text, full_start=full, start=start, end=end, number=number)
        if not text.startswith('#'):
            above = None
        at += len(raw)


def _member(owner: str, name: str, line: Line) -> Member:
    simple = owner.rpartition('.')[2]
    tokens = tuple(_tokens(line.text))
    body = tokens[2:]
    calls = {called for _, called in _QUALIFIED.findall(line.text)}
    bare = ['#' if token in (name, simple) else token for token in tokens]
    return Member(
        kind='method',
        name=name,
        owner=owner,
        modifiers=frozenset({'private'} if name.startswith('_') else ()),
        declaration=name,
        source=line.text,
        start_byte=line.start,
        end_byte=line.end,
        start_line=line.number,
        end_line=line.number,
        full_start_byte=line.full_start,
        hash=_hash(tokens),
        bare_hash=_hash(bare),
        body_hash=_hash(bare[2:]),
        body_at=line.text.index(':') + 1,
        calls=frozenset(calls | set(_HELPER.findall(line.text))),
        types=frozenset(type_ for type_, _ in _QUALIFIED.findall(line.text)),
        names=frozenset(filter(_WORD.match, body)),
        strings=frozenset(_STRING.findall(line.text)),
        tokens=tokens,
    )


def _type(line: Line, members: Sequence[Member]) -> DeclaredType:
    name = line.text.strip()[1:-1]
    last = members[-1] if members else None
    return DeclaredType(
        name=name,
        simple=name.rpartition('.')[2],
        kind=MODULE if name.rpartition('.')[2][:1].islower() else 'class',
        declaration=line.text,
        header_hash=_hash([name]),
        shape_hash=_hash(['type']),
        members=tuple(members),
        start_byte=line.full_start,
        end_byte=last.end_byte if last else line.end,
        start_line=line.number,
        end_line=last.end_line if last else line.number,
    )


def _text(type_: DeclaredType) -> str:
    lines = [f'[{type_.name}]', *(member.source for member in type_.members)]
    return '\n'.join(lines)


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def _hash(tokens: Iterable[str]) -> str:
    text = ''.join(f'{token}\0' for token in tokens)
    return hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()
