"""Parses Go declarations with tree-sitter: the package, its types and their methods.

The package is a type that holds functions, variables and constants. Named types are nested in it,
each with the methods that this file declares: `(*Router).Walk` of package mux is `Walk` of
`mux$Router`. If the file declares only methods of a type, the type has no text of its own. Hashes
cover what the compiler reads, see `coevo.languages.golang.reading.tokens`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from tree_sitter import Node, Parser

from coevo.languages.declarations import MODULE, DeclaredType, Member
from coevo.languages.golang.reading.declared import GoDeclaration, list_declarations
from coevo.languages.golang.reading.imports import (
    infer_import_names,
    is_standard_package,
    list_imports,
    make_import_records,
)
from coevo.languages.golang.reading.layout import GoFile, GoFileHead, may_declare_tests
from coevo.languages.golang.reading.members import (
    GoMemberReader,
    GoTokenisedDeclaration,
    list_modifiers,
)
from coevo.languages.golang.reading.token_walk import GO, GoTokenIndex
from coevo.languages.golang.reading.tokens import GoPackageNames
from coevo.languages.grammars import DeclarationComments
from coevo.languages.spans import Span, is_nested_too_deep, subtract_holes
from coevo.model.records import compute_short_hash

# The same bounds as for Java: far beyond hand-written code, and equal on every machine.
MOST_BYTES = 4 << 20
MOST_TOKENS = 4_000_000


class _GoSourceTooLarge(ValueError):
    pass


@lru_cache(maxsize=2048)
def parse(source: bytes, path: str = '') -> GoFile:
    """Return the declarations of a Go file, as `parse_uncached` does; cached for the last 2048."""
    return parse_uncached(source, path)


@lru_cache(maxsize=4096)
def parse_head(source: bytes) -> GoFileHead:
    """Return the package clause and the imports of a Go file, at a tenth of the cost of `parse`.

    A file that is too large has neither.
    """
    if len(source) > MOST_BYTES:
        return GoFileHead(package='', imports=())
    root = Parser(GO).parse(source).root_node
    return GoFileHead(
        package=_read_package_name(root, source),
        imports=tuple(import_.path for import_ in list_imports(root, source)),
    )


def _read_package_name(root: Node, source: bytes) -> str:
    for node in root.children:
        if node.type == 'package_clause':
            names = node.named_children[:1]
            return ''.join(
                source[n.start_byte : n.end_byte].decode(errors='replace') for n in names
            )
    return ''


def parse_uncached(source: bytes, path: str = '') -> GoFile:
    """Return the declarations of a Go file, as far as possible if it has syntax errors.

    A file that is too large or too deeply nested has no declarations and is `unreadable`.

    path  its path in the repository, which decides whether its tests run
    """
    try:
        return _GoSyntaxReader(source, runs=may_declare_tests(path)).parse_file()
    except _GoSourceTooLarge:
        return GoFile(
            package='',
            imports=(),
            types=(),
            has_error=True,
            hash=hashlib.sha256(source).hexdigest()[:16],
            names=frozenset(),
            unreadable=True,
        )


class _GoSyntaxReader:
    def __init__(self, source: bytes, *, runs: bool) -> None:
        if len(source) > MOST_BYTES:
            raise _GoSourceTooLarge
        self.source = source
        self.runs = runs
        self.root = Parser(GO).parse(source).root_node
        self.tokens = GoTokenIndex(self.root, source)
        if is_nested_too_deep(token.text for _, token in self.tokens):
            raise _GoSourceTooLarge
        self._comments = DeclarationComments(source, self.tokens.comments)
        self._imported = list(list_imports(self.root, source))
        all_ = [(0, len(source))]
        self._rest = self.tokens.slice_spans(
            subtract_holes(all_[0], {i.declaration for i in self._imported})
        )
        names = infer_import_names(self._imported, self._rest.qualifiers)
        self._imports = tuple(make_import_records(self._imported, names))
        self._packages = GoPackageNames(
            names=frozenset(names.values()),
            std=frozenset(name for path, name in names.items() if is_standard_package(path)),
        )

    def parse_file(self) -> GoFile:
        """Return the declarations of the file.

        Raises:
            _GoSourceTooLarge: it has too many tokens.
        """
        if self.tokens.count > MOST_TOKENS:
            raise _GoSourceTooLarge
        lines = sorted(f'{import_.name} {import_.path}' for import_ in self._imported)
        package = _read_package_name(self.root, self.source)
        return GoFile(
            package='',
            imports=self._imports,
            types=tuple(self._parse_types(package)),
            has_error=self.root.has_error,
            hash=compute_short_hash(*lines, *self._rest.texts),
            names=self._rest.list_package_and_member_names(self._packages),
            runs=self.runs,
        )

    def _parse_types(self, package: str) -> Iterator[DeclaredType]:
        pieces = [
            self._tokenise(declaration) for declaration in list_declarations(self.root, self.source)
        ]
        own = [each for each in pieces if each.declared.kind != 'type' and not _is_method(each)]
        read = GoMemberReader(self.source, self.tokens, package, self._packages)
        members = [member for piece in own for member in read.load_members(piece)]
        yield self._make_package_type(package, own, members)
        methods: dict[str, list[Member]] = {}
        for piece in filter(_is_method, pieces):
            simple = piece.declared.receiver or ''
            methods.setdefault(simple, []).extend(read.load_members(piece))
        for piece in pieces:
            if piece.declared.kind == 'type':
                simple = piece.declared.names[0]
                yield self._make_type(piece, package, methods.pop(simple, []))
        for simple, type_methods in methods.items():
            yield self._make_type_of_other_file(package, simple, type_methods)

    def _tokenise(self, one: GoDeclaration) -> GoTokenisedDeclaration:
        full = self._comments.find_start_above(one.node.start_byte)
        spans: list[Span] = [(node.start_byte, node.end_byte) for node in one.inner]
        directives = [] if full == one.node.start_byte else [(full, one.node.start_byte)]
        return GoTokenisedDeclaration(
            declared=one, tokens=self.tokens.slice_spans([*directives, *spans]), full_start=full
        )

    def _make_package_type(
        self, name: str, own: Sequence[GoTokenisedDeclaration], members: Iterable[Member]
    ) -> DeclaredType:
        """Return the type that stands for a file's part of its package.

        Its members are the file's functions, variables and constants. Its header consists of
        variables, constants and build constraints.
        """
        values = [each for each in own if each.declared.kind != 'func']
        header = [text for each in values for text in (each.declared.kind, *each.tokens.texts)]
        head = self._list_tokens_above_package()
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
            header_hash=compute_short_hash(*head, *header),
            shape_hash=compute_short_hash(*head),
            names=frozenset(),
            calls=frozenset(),
            strings=frozenset(),
            members=tuple(_number_duplicates(list(members))),
            start_byte=0,
            end_byte=len(self.source),
            start_line=1,
            end_line=self.root.end_point.row + 1,
        )

    def _list_tokens_above_package(self) -> tuple[str, ...]:
        """Return the tokens above the package clause, such as build constraints."""
        start = next((c.start_byte for c in self.root.children if c.type == 'package_clause'), 0)
        return self.tokens.slice_spans([(0, start)]).texts

    def _make_type(
        self, piece: GoTokenisedDeclaration, package: str, methods: Sequence[Member]
    ) -> DeclaredType:
        node, tokens = piece.declared.inner[0], piece.tokens
        simple = piece.declared.names[0]
        alias = node.type == 'type_alias'
        return DeclaredType(
            name=f'{package}${simple}',
            simple=simple,
            around=(package,),
            kind='interface' if is_interface(node) else 'class',
            superclass=None,
            interfaces=tuple(list_embedded_types(node, self.source)),
            abstract=is_interface(node),
            modifiers=list_modifiers(simple),
            annotations=(),
            declaration=f'type {simple}{" =" if alias else ""} {describe_type(node, self.source)}'.strip(),
            header_hash=compute_short_hash('type', *tokens.texts),
            shape_hash=compute_short_hash('type', *tokens.mask_own_names(simple, simple)),
            names=tokens.list_package_level_names(self._packages) - {simple},
            calls=tokens.list_possible_calls(self._packages),
            strings=tokens.strings,
            members=tuple(_number_duplicates(list(methods))),
            start_byte=piece.declared.node.start_byte,
            end_byte=piece.declared.node.end_byte,
            start_line=piece.declared.node.start_point.row + 1,
            end_line=piece.declared.node.end_point.row + 1,
        )

    def _make_type_of_other_file(
        self, package: str, simple: str, methods: Sequence[Member]
    ) -> DeclaredType:
        """Return a type of which this file has only methods, since another file declares it.

        It has no text of its own: it ends where it begins.
        """
        first = methods[0]
        return DeclaredType(
            name=f'{package}${simple}',
            simple=simple,
            around=(package,),
            kind='class',
            superclass=None,
            interfaces=(),
            abstract=False,
            modifiers=list_modifiers(simple),
            annotations=(),
            declaration=f'type {simple}',
            header_hash=compute_short_hash(),
            shape_hash=compute_short_hash(),
            names=frozenset(),
            calls=frozenset(),
            strings=frozenset(),
            members=tuple(_number_duplicates(list(methods))),
            start_byte=first.start_byte,
            end_byte=first.start_byte,
            start_line=first.start_line,
            end_line=first.start_line,
            is_elsewhere=True,
        )


def _is_method(piece: GoTokenisedDeclaration) -> bool:
    return piece.declared.receiver is not None


def _number_duplicates(members: list[Member]) -> Iterator[Member]:
    """Yield all members, with a number as parameter for functions that share their name.

    The last one of a name gets none, so a single function never has one. Example: `init`.
    """
    left: Mapping[object, int] = Counter((m.kind, m.name) for m in members)
    seen: Counter[object] = Counter()
    for member in members:
        key = (member.kind, member.name)
        seen[key] += 1
        if member.kind == 'method' and seen[key] < left[key]:
            yield replace(member, parameters=(str(seen[key]),))
        else:
            yield member


_HOLDERS = frozenset({'field_declaration_list', 'interface_type'})


def is_interface(node: Node) -> bool:
    """Return whether a type declaration declares an interface."""
    type_ = node.child_by_field_name('type')
    return type_ is not None and type_.type == 'interface_type'


def describe_type(node: Node, source: bytes) -> str:
    """Return the type of a declaration: `struct`, `interface`, or as written in one line.

    '' if it has none.
    """
    type_ = node.child_by_field_name('type')
    if type_ is None:
        return ''
    if type_.type in ('struct_type', 'interface_type'):
        return type_.type.removesuffix('_type')
    return ' '.join(source[type_.start_byte : type_.end_byte].decode(errors='replace').split())


def list_embedded_types(node: Node, source: bytes) -> Iterator[str]:
    """Yield the simple names of the types whose methods a declared type takes over.

    These are the types embedded in its struct or interface, or the type of which it is an alias.
    """
    type_ = node.child_by_field_name('type')
    if type_ is None:
        return
    if node.type == 'type_alias':
        yield from _find_simple_name(type_, source)
    for list_ in (type_, *type_.named_children):
        for field in list_.named_children if list_.type in _HOLDERS else ():
            unnamed = field.child_by_field_name('name') is None
            if field.type == 'field_declaration' and unnamed:
                inner = field.child_by_field_name('type')
                yield from _find_simple_name(inner, source) if inner is not None else ()
            elif field.type == 'type_elem' and field.named_child_count == 1:
                yield from _find_simple_name(field.named_children[0], source)


def _find_simple_name(type_: Node, source: bytes) -> Iterator[str]:
    """Yield the simple name `T` of a type written as `T`, `*T`, `p.T` or `T[K]`; else nothing."""
    current: Node | None = type_
    while current is not None and current.type != 'type_identifier':
        inner = current.child_by_field_name('name') or current.child_by_field_name('type')
        if inner is None and current.type == 'pointer_type':
            inner = next(iter(current.named_children), None)
        current = inner
    if current is not None:
        yield source[current.start_byte : current.end_byte].decode(errors='replace')
