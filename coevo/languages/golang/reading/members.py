"""Makes the members of a Go package or type: one for each name that a declaration declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from coevo.languages.declarations import Member
from coevo.languages.golang.reading.declared import (
    GoDeclaration,
    list_constant_lines,
    list_embed_patterns,
)
from coevo.languages.golang.reading.token_walk import GoTokenIndex
from coevo.languages.golang.reading.tokens import GoPackageNames, GoTokenSlice
from coevo.languages.spans import subtract_holes
from coevo.model.records import compute_short_hash

# Any code that receives a value may call its methods, since types implement interfaces implicitly.
_FULFILS = ('Override',)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoTokenisedDeclaration:
    """A declaration with its tokens.

    full_start  the offset where the comments above it begin
    """

    declared: GoDeclaration
    tokens: GoTokenSlice
    full_start: int


@dataclass(frozen=True, slots=True)
class _MemberCache:
    members: list[tuple[Member, ...]] = field(default_factory=list)


@lru_cache(maxsize=1 << 14)
def _get_member_cache(
    text: bytes, kind: str, names: tuple[str, ...], owner: str, packages: GoPackageNames
) -> _MemberCache:
    """Return the cache for the members of a declaration, empty at first.

    Members depend on these arguments and on their position alone.
    """
    return _MemberCache()


class GoMemberReader:
    """Makes the members of the declarations of one file.

    Members that neighbouring revisions share are made once and moved to their position.
    """

    def __init__(
        self, source: bytes, tokens: GoTokenIndex, package: str, packages: GoPackageNames
    ) -> None:
        self._source = source
        self._tokens = tokens
        self._package = package
        self._packages = packages

    def load_members(self, piece: GoTokenisedDeclaration) -> tuple[Member, ...]:
        """Return the members of a declaration: one for each name that it declares."""
        declaration = piece.declared
        text = self._source[piece.full_start : declaration.node.end_byte]
        member_cache = _get_member_cache(
            text, declaration.kind, declaration.names, self._name_owner(piece), self._packages
        )
        if not member_cache.members:
            member_cache.members.append(tuple(self._make_members(piece)))
            return member_cache.members[0]
        node = declaration.node
        return tuple(
            replace(
                member,
                start_byte=node.start_byte,
                end_byte=node.end_byte,
                start_line=node.start_point.row + 1,
                end_line=node.end_point.row + 1,
                full_start_byte=piece.full_start,
            )
            for member in member_cache.members[0]
        )

    def _name_owner(self, piece: GoTokenisedDeclaration) -> str:
        receiver = piece.declared.receiver
        return self._package if receiver is None else f'{self._package}${receiver}'

    def _make_members(self, piece: GoTokenisedDeclaration) -> Iterator[Member]:
        """Yield the members of a declaration, one for each name.

        A variable named `_` is an initializer: only its value counts. A constant that counts or
        repeats has the tokens of its own line and of what that line repeats, so that a line that is
        inserted above does not modify it.
        """
        declaration = piece.declared
        if declaration.kind == 'const' and len(declaration.inner) > 1:
            for line in list_constant_lines(declaration, self._source):
                spans = sorted((node.start_byte, node.end_byte) for node in line.nodes[1:])
                own = [(node.start_byte, node.end_byte) for node in line.nodes[:1]]
                tokens = self._tokens.slice_spans([*own, *spans])
                yield from self._make_named_members(replace(piece, tokens=tokens), line.names)
            return
        yield from self._make_named_members(piece, declaration.names or ('_',))

    def _make_named_members(
        self, piece: GoTokenisedDeclaration, names: tuple[str, ...]
    ) -> Iterator[Member]:
        declaration = piece.declared
        for name in names:
            plain = self._make_member(piece, name)
            if declaration.kind == 'func':
                yield self._make_function(plain, piece)
            elif name == '_':
                yield replace(plain, kind='initializer', name='<init>')
            else:
                kind = {'static', 'final'} if declaration.kind == 'const' else {'static'}
                yield replace(plain, modifiers=plain.modifiers | kind)

    def _make_function(self, plain: Member, piece: GoTokenisedDeclaration) -> Member:
        node = piece.declared.node
        body = node.child_by_field_name('body')
        end = node.end_byte if body is None else body.start_byte
        simple = piece.declared.receiver or self._package
        inner = (
            None if body is None else self._tokens.slice_spans([(body.start_byte, body.end_byte)])
        )
        return replace(
            plain,
            kind='method',
            declaration=self._join_in_one_line(node.start_byte, end),
            body_hash=None
            if inner is None
            else compute_short_hash('body', *inner.mask_own_names(plain.name, simple)),
            body_at=None
            if body is None
            else len(self._read_text(node.start_byte, body.start_byte)),
        )

    def _read_text(self, start: int, end: int) -> str:
        return self._source[start:end].decode(errors='replace')

    def _join_in_one_line(self, start: int, end: int) -> str:
        holes = [span for span in self._tokens.comments if start <= span[0] < end]
        parts = (self._source[first:last] for first, last in subtract_holes((start, end), holes))
        return ' '.join(b' '.join(parts).decode(errors='replace').split())

    def _make_member(self, piece: GoTokenisedDeclaration, name: str) -> Member:
        node, tokens = piece.declared.node, piece.tokens
        kind, receiver = piece.declared.kind, piece.declared.receiver
        return Member(
            kind='field',
            name=name,
            owner=self._name_owner(piece),
            parameters=(),
            modifiers=list_modifiers(name),
            annotations=() if receiver is None else _FULFILS,
            declaration=f'{kind} {name}',
            source=self._read_text(node.start_byte, node.end_byte),
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=piece.full_start,
            hash=compute_short_hash(kind, *tokens.texts),
            bare_hash=compute_short_hash(
                kind, *tokens.mask_own_names(name, receiver or self._package)
            ),
            body_hash=None,
            body_at=None,
            calls=tokens.list_possible_calls(self._packages),
            types=tokens.types,
            names=tokens.list_package_level_names(self._packages),
            strings=tokens.strings | set(list_embed_patterns(tokens.texts)),
            tokens=tokens.texts,
        )


def list_modifiers(name: str) -> frozenset[str]:
    """Return {`private`} for a name that does not begin with a capital letter, else an empty set.

    See https://go.dev/ref/spec#Exported_identifiers.
    """
    return frozenset() if name[:1].isupper() else frozenset({'private'})
