"""Go declarations by tree-sitter: a file's part of its package, its types and their methods.

The package is a type that holds functions, variables and constants; named types are nested in it, each
with the methods that this file declares: `(*Router).Walk` of package mux is `Walk` of `mux$Router`. A
type of which the file has methods alone has no text of its own. Hashes are over what the
compiler is told, see `coevo.languages.golang.reading.tokens`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from functools import lru_cache

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages.declarations import MODULE
from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.golang.reading.comments import Comments
from coevo.languages.golang.reading.declared import Declared
from coevo.languages.golang.reading.declared import declared
from coevo.languages.golang.reading.files import GoFile
from coevo.languages.golang.reading.files import may_run
from coevo.languages.golang.reading.imports import bound_names
from coevo.languages.golang.reading.imports import imported
from coevo.languages.golang.reading.imports import imports_of
from coevo.languages.golang.reading.std import is_std
from coevo.languages.golang.reading.tokens import GO
from coevo.languages.golang.reading.tokens import GoSlice
from coevo.languages.golang.reading.tokens import GoTokens
from coevo.languages.golang.reading.tokens import Packages
from coevo.languages.spans import Span
from coevo.languages.spans import outside
from coevo.model.records import short_hash

# As in Java: far above what people write, and the same on every machine.
MOST_BYTES = 4 << 20
MOST_TOKENS = 4_000_000
# Whoever is handed a value may call its methods, since types fulfil interfaces without saying so.
_FULFILS = ('Override',)


class _TooMuch(ValueError):
    pass


@lru_cache(maxsize=2048)
def parse(source: bytes, path: str = '') -> GoFile:
    """As `parse_once`, kept for a while."""
    return parse_once(source, path)


def parse_once(source: bytes, path: str = '') -> GoFile:
    """The declarations of a Go file; what can be had of one with syntax errors.

    path  where it stands in its repository, which tells whether its tests are run
    """
    try:
        return _Reader(source, runs=may_run(path)).file()
    except _TooMuch:
        return GoFile(
            package='',
            imports=(),
            types=(),
            has_error=True,
            hash=hashlib.sha256(source).hexdigest()[:16],
            names=frozenset(),
            unreadable=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A declaration with its tokens."""

    declared: Declared
    found: GoSlice
    full_start: int


class _Reader:
    def __init__(self, source: bytes, *, runs: bool) -> None:
        if len(source) > MOST_BYTES:
            raise _TooMuch
        self.source = source
        self.runs = runs
        self.root = Parser(GO).parse(source).root_node
        self.tokens = GoTokens(self.root, source)
        self._comments = Comments(source, self.tokens.comments)
        self._imported = list(imported(self.root, source))
        all_ = [(0, len(source))]
        self._rest = self.tokens.within(outside(all_[0], {i.declaration for i in self._imported}))
        names = bound_names(self._imported, self._rest.qualifiers)
        self._imports = tuple(imports_of(self._imported, names))
        self._packages = Packages(
            names=frozenset(names.values()),
            std=frozenset(name for path, name in names.items() if is_std(path)),
        )
        self._read = 0

    def file(self) -> GoFile:
        if len(self.tokens.all) > MOST_TOKENS:
            raise _TooMuch
        lines = sorted(f'{one.name} {one.path}' for one in self._imported)
        package = self._package_name()
        return GoFile(
            package='',
            imports=self._imports,
            types=tuple(self._types(package)),
            has_error=self.root.has_error,
            hash=short_hash(*lines, *self._rest.texts),
            names=self._rest.names(self._packages),
            runs=self.runs,
        )

    def _package_name(self) -> str:
        for node in self.root.children:
            if node.type == 'package_clause':
                return ''.join(self._text(each) for each in node.named_children[:1])
        return ''

    def _types(self, package: str) -> Iterator[DeclaredType]:
        pieces = [self._piece(one) for one in declared(self.root, self.source)]
        own = [each for each in pieces if each.declared.kind != 'type' and not _is_method(each)]
        members = [member for piece in own for member in self._members(piece, package)]
        yield self._package(package, own, members)
        methods: dict[str, list[Member]] = {}
        for piece in filter(_is_method, pieces):
            simple = piece.declared.receiver or ''
            methods.setdefault(simple, []).extend(self._methods(piece, package, simple))
        for piece in pieces:
            if piece.declared.kind == 'type':
                simple = piece.declared.names[0]
                yield self._type(piece, package, methods.pop(simple, []))
        for simple, found in methods.items():
            yield self._elsewhere(package, simple, found)

    def _piece(self, one: Declared) -> _Piece:
        full = self._comments.above(one.node.start_byte)
        spans: list[Span] = [(node.start_byte, node.end_byte) for node in one.inner]
        directives = [] if full == one.node.start_byte else [(full, one.node.start_byte)]
        return _Piece(
            declared=one, found=self.tokens.within([*directives, *spans]), full_start=full
        )

    def _package(self, name: str, own: Sequence[_Piece], members: Iterable[Member]) -> DeclaredType:
        """A file's part of its package; its header are variables, constants and build constraints."""
        values = [each for each in own if each.declared.kind != 'func']
        header = [text for each in values for text in (each.declared.kind, *each.found.texts)]
        head = self._constraints()
        return DeclaredType(
            name=name,
            simple=name,
            around=(),
            kind=MODULE,
            superclass=None,
            interfaces=(),
            abstract=False,
            modifiers=frozenset(),
            annotations=(),
            declaration=f'package {name}',
            header_hash=short_hash(*head, *header),
            shape_hash=short_hash(*head),
            names=frozenset(),
            calls=frozenset(),
            strings=frozenset(),
            members=tuple(_told_apart(list(members))),
            start_byte=0,
            end_byte=len(self.source),
            start_line=1,
            end_line=self.root.end_point.row + 1,
        )

    def _constraints(self) -> tuple[str, ...]:
        """What stands above the package clause, and is no mere comment."""
        start = next((c.start_byte for c in self.root.children if c.type == 'package_clause'), 0)
        return self.tokens.within([(0, start)]).texts

    def _type(self, piece: _Piece, package: str, methods: Sequence[Member]) -> DeclaredType:
        node, found = piece.declared.inner[0], piece.found
        simple = piece.declared.names[0]
        alias = node.type == 'type_alias'
        return DeclaredType(
            name=f'{package}${simple}',
            simple=simple,
            around=(package,),
            kind='interface' if _is_interface(node) else 'class',
            superclass=None,
            interfaces=tuple(_embedded(node, self.source)),
            abstract=_is_interface(node),
            modifiers=_modifiers(simple),
            annotations=(),
            declaration=f'type {simple}{" =" if alias else ""} {_kind_of(node, self.source)}'.strip(),
            header_hash=short_hash('type', *found.texts),
            shape_hash=short_hash('type', *found.bare(simple, simple)),
            names=found.names(self._packages) - {simple},
            calls=found.calls(self._packages),
            strings=found.strings,
            members=tuple(_told_apart(list(methods))),
            start_byte=piece.declared.node.start_byte,
            end_byte=piece.declared.node.end_byte,
            start_line=piece.declared.node.start_point.row + 1,
            end_line=piece.declared.node.end_point.row + 1,
        )

    def _elsewhere(self, package: str, simple: str, methods: Sequence[Member]) -> DeclaredType:
        """A type that another file declares."""
        first = methods[0]
        return DeclaredType(
            name=f'{package}${simple}',
            simple=simple,
            around=(package,),
            kind='class',
            superclass=None,
            interfaces=(),
            abstract=False,
            modifiers=_modifiers(simple),
            annotations=(),
            declaration=f'type {simple}',
            header_hash=short_hash(),
            shape_hash=short_hash(),
            names=frozenset(),
            calls=frozenset(),
            strings=frozenset(),
            members=tuple(_told_apart(list(methods))),
            start_byte=first.start_byte,
            end_byte=first.start_byte,
            start_line=first.start_line,
            end_line=first.start_line,
        )

    def _methods(self, piece: _Piece, package: str, simple: str) -> Iterator[Member]:
        for member in self._members(piece, package):
            yield replace(
                member,
                owner=f'{package}${simple}',
                annotations=_FULFILS,
                bare_hash=short_hash(*piece.found.bare(member.name, simple)),
            )

    def _members(self, piece: _Piece, package: str) -> Iterator[Member]:
        """One for each name; a variable without a name runs what it is given."""
        one = piece.declared
        for name in one.names or ('_',):
            plain = self._member(piece, name, package)
            if one.kind == 'func':
                yield self._function(plain, piece, package)
            elif name == '_':
                yield replace(plain, kind='initializer', name='<init>')
            else:
                kind = {'static', 'final'} if one.kind == 'const' else {'static'}
                yield replace(plain, modifiers=plain.modifiers | kind)

    def _function(self, plain: Member, piece: _Piece, package: str) -> Member:
        node = piece.declared.node
        body = node.child_by_field_name('body')
        end = node.end_byte if body is None else body.start_byte
        simple = piece.declared.receiver or package
        inner = None if body is None else self.tokens.within([(body.start_byte, body.end_byte)])
        return replace(
            plain,
            kind='method',
            declaration=self._one_line(node.start_byte, end),
            body_hash=None
            if inner is None
            else short_hash('body', *inner.bare(plain.name, simple)),
        )

    def _one_line(self, start: int, end: int) -> str:
        holes = [span for span in self.tokens.comments if start <= span[0] < end]
        parts = (self.source[first:last] for first, last in outside((start, end), holes))
        return ' '.join(b' '.join(parts).decode(errors='replace').split())

    def _member(self, piece: _Piece, name: str, package: str) -> Member:
        node, found = piece.declared.node, piece.found
        self._read += len(found.texts)
        if self._read > MOST_TOKENS:
            raise _TooMuch
        kind = piece.declared.kind
        return Member(
            kind='field',
            name=name,
            owner=package,
            parameters=(),
            modifiers=_modifiers(name),
            annotations=(),
            declaration=f'{kind} {name}',
            source=self._text(node),
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=piece.full_start,
            hash=short_hash(kind, *found.texts),
            bare_hash=short_hash(kind, *found.bare(name, package)),
            body_hash=None,
            calls=found.calls(self._packages),
            types=found.types,
            names=found.names(self._packages),
            strings=found.strings,
            tokens=found.texts,
        )

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode(errors='replace')


def _is_method(piece: _Piece) -> bool:
    return piece.declared.receiver is not None


def _modifiers(name: str) -> frozenset[str]:
    """https://go.dev/ref/spec#Exported_identifiers"""
    return frozenset() if name[:1].isupper() else frozenset({'private'})


def _is_interface(node: Node) -> bool:
    type_ = node.child_by_field_name('type')
    return type_ is not None and type_.type == 'interface_type'


def _kind_of(node: Node, source: bytes) -> str:
    """`struct`, `interface`, or the type as it is written."""
    type_ = node.child_by_field_name('type')
    if type_ is None:
        return ''
    if type_.type in ('struct_type', 'interface_type'):
        return type_.type.removesuffix('_type')
    return ' '.join(source[type_.start_byte : type_.end_byte].decode(errors='replace').split())


def _embedded(node: Node, source: bytes) -> Iterator[str]:
    """The simple names of the types whose methods a type has: those in it, and what it is an alias of."""
    type_ = node.child_by_field_name('type')
    if type_ is None:
        return
    if node.type == 'type_alias':
        yield from _simple_name(type_, source)
    for list_ in (type_, *type_.named_children):
        for field in list_.named_children if list_.type in _HOLDERS else ():
            unnamed = field.child_by_field_name('name') is None
            if field.type == 'field_declaration' and unnamed:
                inner = field.child_by_field_name('type')
                yield from _simple_name(inner, source) if inner is not None else ()
            elif field.type == 'type_elem' and field.named_child_count == 1:
                yield from _simple_name(field.named_children[0], source)


_HOLDERS = frozenset({'field_declaration_list', 'interface_type'})


def _simple_name(type_: Node, source: bytes) -> Iterator[str]:
    """`T` of `T`, `*T`, `p.T`, `T[K]`."""
    if type_.type == 'type_identifier':
        yield source[type_.start_byte : type_.end_byte].decode(errors='replace')
        return
    inner = type_.child_by_field_name('name') or type_.child_by_field_name('type')
    if inner is None and type_.type == 'pointer_type':
        inner = next(iter(type_.named_children), None)
    if inner is not None:
        yield from _simple_name(inner, source)


def _told_apart(members: list[Member]) -> Iterator[Member]:
    """A package may have many functions `init`, which are numbered in place of parameters."""
    left: Mapping[object, int] = Counter((m.kind, m.name) for m in members)
    seen: Counter[object] = Counter()
    for member in members:
        key = (member.kind, member.name)
        seen[key] += 1
        if member.kind == 'method' and seen[key] < left[key]:
            yield replace(member, parameters=(str(seen[key]),))
        else:
            yield member
