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
from coevo.languages.golang.reading.members import GoMembers
from coevo.languages.golang.reading.members import Piece
from coevo.languages.golang.reading.members import modifiers
from coevo.languages.golang.reading.std import is_std
from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.golang.reading.token_walk import GoTokens
from coevo.languages.golang.reading.tokens import Packages
from coevo.languages.golang.reading.type_heads import embedded
from coevo.languages.golang.reading.type_heads import is_interface
from coevo.languages.golang.reading.type_heads import kind_of
from coevo.languages.nesting import is_too_deep
from coevo.languages.spans import Span
from coevo.languages.spans import outside
from coevo.model.records import short_hash

# As in Java: far above what people write, and the same on every machine.
MOST_BYTES = 4 << 20
MOST_TOKENS = 4_000_000


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


class _Reader:
    def __init__(self, source: bytes, *, runs: bool) -> None:
        if len(source) > MOST_BYTES:
            raise _TooMuch
        self.source = source
        self.runs = runs
        self.root = Parser(GO).parse(source).root_node
        self.tokens = GoTokens(self.root, source)
        if is_too_deep(token.text for _, token in self.tokens):
            raise _TooMuch
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

    def file(self) -> GoFile:
        if self.tokens.count > MOST_TOKENS:
            raise _TooMuch
        lines = sorted(f'{one.name} {one.path}' for one in self._imported)
        package = self._package_name()
        return GoFile(
            package='',
            imports=self._imports,
            types=tuple(self._types(package)),
            has_error=self.root.has_error,
            hash=short_hash(*lines, *self._rest.texts),
            names=self._rest.mentions(self._packages),
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
        read = GoMembers(self.source, self.tokens, package, self._packages)
        members = [member for piece in own for member in read.of(piece)]
        yield self._package(package, own, members)
        methods: dict[str, list[Member]] = {}
        for piece in filter(_is_method, pieces):
            simple = piece.declared.receiver or ''
            methods.setdefault(simple, []).extend(read.of(piece))
        for piece in pieces:
            if piece.declared.kind == 'type':
                simple = piece.declared.names[0]
                yield self._type(piece, package, methods.pop(simple, []))
        for simple, found in methods.items():
            yield self._elsewhere(package, simple, found)

    def _piece(self, one: Declared) -> Piece:
        full = self._comments.above(one.node.start_byte)
        spans: list[Span] = [(node.start_byte, node.end_byte) for node in one.inner]
        directives = [] if full == one.node.start_byte else [(full, one.node.start_byte)]
        return Piece(declared=one, found=self.tokens.within([*directives, *spans]), full_start=full)

    def _package(self, name: str, own: Sequence[Piece], members: Iterable[Member]) -> DeclaredType:
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

    def _type(self, piece: Piece, package: str, methods: Sequence[Member]) -> DeclaredType:
        node, found = piece.declared.inner[0], piece.found
        simple = piece.declared.names[0]
        alias = node.type == 'type_alias'
        return DeclaredType(
            name=f'{package}${simple}',
            simple=simple,
            around=(package,),
            kind='interface' if is_interface(node) else 'class',
            superclass=None,
            interfaces=tuple(embedded(node, self.source)),
            abstract=is_interface(node),
            modifiers=modifiers(simple),
            annotations=(),
            declaration=f'type {simple}{" =" if alias else ""} {kind_of(node, self.source)}'.strip(),
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
            modifiers=modifiers(simple),
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

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode(errors='replace')


def _is_method(piece: Piece) -> bool:
    return piece.declared.receiver is not None


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
