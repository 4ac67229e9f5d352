"""The members of a Go package or type: one for each name that a declaration gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import lru_cache

from coevo.languages.declarations import Member
from coevo.languages.golang.reading.declared import Declared
from coevo.languages.golang.reading.token_walk import GoTokens
from coevo.languages.golang.reading.tokens import GoSlice
from coevo.languages.golang.reading.tokens import Packages
from coevo.languages.spans import outside
from coevo.model.records import short_hash

# Whoever is handed a value may call its methods, since types fulfil interfaces without saying so.
_FULFILS = ('Override',)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A declaration with its tokens."""

    declared: Declared
    found: GoSlice
    full_start: int


@dataclass(frozen=True, slots=True)
class _Kept:
    members: list[tuple[Member, ...]] = field(default_factory=list)


@lru_cache(maxsize=1 << 14)
def _kept(text: bytes, kind: str, names: tuple[str, ...], owner: str, packages: Packages) -> _Kept:
    """Where to keep members, which this tells but for where they stand."""
    return _Kept()


class GoMembers:
    """Those of one file; what neighbouring revisions share is read once."""

    def __init__(self, source: bytes, tokens: GoTokens, package: str, packages: Packages) -> None:
        self._source = source
        self._tokens = tokens
        self._package = package
        self._packages = packages

    def of(self, piece: Piece) -> tuple[Member, ...]:
        one = piece.declared
        text = self._source[piece.full_start : one.node.end_byte]
        kept = _kept(text, one.kind, one.names, self._owner(piece), self._packages)
        if not kept.members:
            kept.members.append(tuple(self._read(piece)))
            return kept.members[0]
        node = one.node
        return tuple(
            replace(
                member,
                start_byte=node.start_byte,
                end_byte=node.end_byte,
                start_line=node.start_point.row + 1,
                end_line=node.end_point.row + 1,
                full_start_byte=piece.full_start,
            )
            for member in kept.members[0]
        )

    def _owner(self, piece: Piece) -> str:
        receiver = piece.declared.receiver
        return self._package if receiver is None else f'{self._package}${receiver}'

    def _read(self, piece: Piece) -> Iterator[Member]:
        """A variable without a name runs what it is given."""
        one = piece.declared
        for name in one.names or ('_',):
            plain = self._member(piece, name)
            if one.kind == 'func':
                yield self._function(plain, piece)
            elif name == '_':
                yield replace(plain, kind='initializer', name='<init>')
            else:
                kind = {'static', 'final'} if one.kind == 'const' else {'static'}
                yield replace(plain, modifiers=plain.modifiers | kind)

    def _function(self, plain: Member, piece: Piece) -> Member:
        node = piece.declared.node
        body = node.child_by_field_name('body')
        end = node.end_byte if body is None else body.start_byte
        simple = piece.declared.receiver or self._package
        inner = None if body is None else self._tokens.within([(body.start_byte, body.end_byte)])
        return replace(
            plain,
            kind='method',
            declaration=self._one_line(node.start_byte, end),
            body_hash=None
            if inner is None
            else short_hash('body', *inner.bare(plain.name, simple)),
            body_at=None if body is None else len(self._text(node.start_byte, body.start_byte)),
        )

    def _text(self, start: int, end: int) -> str:
        return self._source[start:end].decode(errors='replace')

    def _one_line(self, start: int, end: int) -> str:
        holes = [span for span in self._tokens.comments if start <= span[0] < end]
        parts = (self._source[first:last] for first, last in outside((start, end), holes))
        return ' '.join(b' '.join(parts).decode(errors='replace').split())

    def _member(self, piece: Piece, name: str) -> Member:
        node, found = piece.declared.node, piece.found
        kind, receiver = piece.declared.kind, piece.declared.receiver
        return Member(
            kind='field',
            name=name,
            owner=self._owner(piece),
            parameters=(),
            modifiers=modifiers(name),
            annotations=() if receiver is None else _FULFILS,
            declaration=f'{kind} {name}',
            source=self._text(node.start_byte, node.end_byte),
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=piece.full_start,
            hash=short_hash(kind, *found.texts),
            bare_hash=short_hash(kind, *found.bare(name, receiver or self._package)),
            body_hash=None,
            body_at=None,
            calls=found.calls(self._packages),
            types=found.types,
            names=found.names(self._packages),
            strings=found.strings,
            tokens=found.texts,
        )


def modifiers(name: str) -> frozenset[str]:
    """https://go.dev/ref/spec#Exported_identifiers"""
    return frozenset() if name[:1].isupper() else frozenset({'private'})
