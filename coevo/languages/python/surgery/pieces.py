"""Split a Python file into pieces that can be removed or put into another version of it.

A piece is an imported name, a declaring statement or a whole class, with its comments above and
after it. Type names are those of a file without a path: '' is the module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

from tree_sitter import Node, Parser

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.grammars import DeclarationComments
from coevo.languages.python.reading.imports import STATEMENTS, ImportedName, list_imported_names
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.tests import find_tests, is_run_by_framework
from coevo.languages.python.reading.tokens import (
    PYTHON,
    PythonSlice,
    PythonTokens,
    TokenRole,
)
from coevo.languages.spans import Span, subtract_holes
from coevo.languages.surgery import StartStateInvalid
from coevo.model.records import TestMethod

_WORDS = re.compile(r'[^\W\d]\w*')
_OWN = frozenset({'self', 'cls'})
_FREE = frozenset({TokenRole.LOADED, TokenRole.CALLED, TokenRole.ANNOTATION, TokenRole.PARAMETER})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PythonPiece:
    """A part of a file: an imported name, a declaring statement or a class. Compared by identity.

    kind        import, method, constructor, field, initializer or type
    owner       the type around it; '' for the module
    names       the names that it declares: '*' for a wildcard
    start, end  its span in bytes, with its comments
    statement   its span without comments; for an imported name the whole import statement
    uses        every name in it that may refer to another piece; `.x` is a name after a dot
    names_to_bring_along    those that are no local variables; after a dot only members of `self` and `cls`
    members     the declarations in it; () for a class or import
    """

    kind: str
    owner: str
    names: tuple[str, ...]
    start: int
    end: int
    statement: Span
    uses: frozenset[str] = frozenset()
    names_to_bring_along: frozenset[str] = frozenset()
    members: tuple[Member, ...] = ()
    imported: ImportedName | None = None

    @property
    def span(self) -> Span:
        """The start and end of the piece."""
        return self.start, self.end

    def may_be_named_by(self, names: AbstractSet[str]) -> bool:
        """Return whether any of the names, as in `uses`, may refer to this piece.

        A name after a dot (`.x`) may refer to a member of a class, never to one of a module.
        """
        if not names.isdisjoint(self.names):
            return True
        return bool(self.owner) and not names.isdisjoint(f'.{name}' for name in self.names)

    @property
    def start_byte(self) -> int | None:
        """The offset of its first member, without comments; None if it has no members."""
        return self.members[0].start_byte if self.members else None


class PythonOutline:
    """A parsed file that can be split into pieces.

    Raises:
        StartStateInvalid: the file is too large or too deeply nested
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.root = Parser(PYTHON).parse(source).root_node
        self.file = parse(source)
        if self.file.unreadable:
            raise StartStateInvalid('a file is too large or too deeply nested for coevo to read')
        self.types: Mapping[str, DeclaredType] = {type_.name: type_ for type_ in self.file.types}
        self._tokens = PythonTokens(self.root, source)
        self._comments = DeclarationComments(source, self._tokens.comments)

    def get_text(self, piece: PythonPiece) -> bytes:
        """Return the text of a piece, with its comments."""
        return self.source[piece.start : piece.end]

    def find_names_outside(self, spans: Iterable[Span]) -> frozenset[str]:
        """Return the names used outside of `spans` and imports, as in `PythonPiece.uses`."""
        imports = [(n.start_byte, n.end_byte) for n in self.root.children if n.type in STATEMENTS]
        return _find_used_names(
            self._tokens.slice_bytes(subtract_holes((0, len(self.source)), [*imports, *spans]))
        )

    def list_import_pieces(self) -> Iterator[PythonPiece]:
        """Yield a piece for each name of the top-level import statements, including wildcards."""
        for node in self.root.children:
            if node.type not in STATEMENTS:
                continue
            named = node.children_by_field_name('name')
            imported_names = list(list_imported_names(node, self.source))
            for index, imported_name in enumerate(imported_names):
                start, end = self.extend_over_comments((node.start_byte, node.end_byte))
                if len(imported_names) > 1:
                    start, end = named[index].start_byte, named[index].end_byte
                yield PythonPiece(
                    kind='import',
                    owner='',
                    names=(imported_name.bound,),
                    start=start,
                    end=end,
                    statement=(node.start_byte, node.end_byte),
                    imported=imported_name,
                )

    def list_member_pieces(self, type_: DeclaredType) -> Iterator[PythonPiece]:
        """Yield a piece for each statement that declares members of a type; no nested classes.

        A statement that declares several names is one piece.
        """
        for _, group in groupby(type_.members, key=lambda member: member.start_byte):
            members = tuple(group)
            first = members[0]
            span = (first.start_byte, first.end_byte)
            tokens = self._tokens.slice_bytes([span])
            names = tuple(_get_declared_name(member) for member in members)
            yield PythonPiece(
                kind=first.kind,
                owner=first.owner,
                names=names,
                members=members,
                statement=span,
                uses=_find_used_names(tokens) - set(names),
                names_to_bring_along=_find_mentioned_names(tokens),
                start=self._find_start_above(first.start_byte),
                end=self._comments.find_end_behind(first.end_byte),
            )

    def make_whole_piece(self, type_: DeclaredType) -> PythonPiece:
        """Return a class with its content as one piece."""
        span = (type_.start_byte, type_.end_byte)
        tokens = self._tokens.slice_bytes([span])
        return PythonPiece(
            kind='type',
            owner=type_.enclosing_name,
            names=(type_.simple,),
            statement=span,
            uses=_find_used_names(tokens) - {type_.simple},
            names_to_bring_along=_find_mentioned_names(tokens) - {type_.simple},
            start=self._find_start_above(type_.start_byte),
            end=self._comments.find_end_behind(type_.end_byte),
        )

    def list_pieces(self, opened: AbstractSet[str]) -> list[PythonPiece]:
        """Return all pieces of the file in order.

        The members of the module and of `opened` classes are pieces of their own; any other class
        is one piece.
        """
        pieces = list(self.list_import_pieces())
        for type_ in self.file.types:
            if self.types[type_.name] is not type_:
                if not type_.enclosing_name or type_.enclosing_name in opened:
                    # a later type of the same name replaces it
                    pieces.append(self.make_whole_piece(type_))
            elif type_.name in opened or not type_.around:
                pieces += self.list_member_pieces(type_)
            elif not type_.enclosing_name or type_.enclosing_name in opened:
                pieces.append(self.make_whole_piece(type_))
        return sorted(pieces, key=lambda piece: (piece.start, piece.end))

    def iterate_removable_types(self) -> Iterator[tuple[DeclaredType, PythonPiece]]:
        """Yield all classes, also nested ones, each with its whole piece."""
        for type_ in self.file.types:
            if type_.around:
                yield type_, self.make_whole_piece(type_)

    @cached_property
    def tests(self) -> tuple[Member, ...]:
        """The test methods, as far as this file alone shows: bases in other files are unknown."""
        return tuple(member for _, member in find_tests(self.file, self.file.index_types()))

    def find_declaration(self, method: TestMethod, when: str) -> Member:
        """Return the declaration of a test method in this file, of several the last one.

        when  `old` or `new`, for the error

        Raises:
            StartStateInvalid: the file has none
        """
        if alike := self._list_members_like(method):
            return alike[-1]
        raise StartStateInvalid(
            f'{method.test_class}#{method.test_method} is not in the file at {when}'
        )

    def find_replaceable_namesake(self, method: TestMethod) -> TestMethod | None:
        """Return the method if its class has a function of this name, no fixture; else None."""
        return None if all(map(is_run_by_framework, self._list_members_like(method))) else method

    def is_well_formed(self) -> bool:
        """Return whether a file has neither a syntax error nor an empty suite.

        The parser accepts empty suites.
        """
        return not self.file.has_error and all(map(_has_suite, _walk_nodes(self.root)))

    def _list_members_like(self, method: TestMethod) -> list[Member]:
        type_ = self.types.get(strip_module_name(method.test_class))
        members = type_.members if type_ else ()
        return [m for m in members if m.kind == 'method' and m.name == method.test_method]

    def extend_over_comments(self, span: Span) -> Span:
        """Return the span with the comments above and after it."""
        return self._find_start_above(span[0]), self._comments.find_end_behind(span[1])

    def _find_start_above(self, at: int) -> int:
        """Return the start of a declaration extended to the comments above it.

        Comments at the top of a file belong to the file: the start is then unchanged.
        """
        start = self._comments.find_start_above(at)
        return start if self.source[:start].strip(b'\xef\xbb\xbf \t\r\n') else at


@lru_cache(maxsize=16)
def make_outline(source: bytes) -> PythonOutline:
    """Return the outline of a file, from a cache.

    Raises:
        StartStateInvalid: the file is too large or too deeply nested
    """
    return PythonOutline(source)


def strip_module_name(name: str) -> str:
    """Return a type name without its module: `$TestA` for `tests.test_a$TestA`."""
    return name[name.index('$') :] if '$' in name else ''


def _get_declared_name(member: Member) -> str:
    return '__init__' if member.kind == 'constructor' else member.name


def _find_identifiers_in_strings(strings: Iterable[str]) -> frozenset[str]:
    """Return the identifiers in strings that have no spaces, as in `usefixtures('client')`."""
    return frozenset(w for s in strings if not s.count(' ') for w in _WORDS.findall(s))


def _find_used_names(found: PythonSlice) -> frozenset[str]:
    """Return all names (`.x` after a dot) but keywords of arguments, and the words of strings."""
    names, last = set(_find_identifiers_in_strings(found.strings)), ''
    for token in found.tokens:
        if token.role is not None and token.role is not TokenRole.KEYWORD:
            names.add(f'.{token.text}' if last == '.' else token.text)
        last = token.text
    return frozenset(names)


def _find_mentioned_names(found: PythonSlice) -> frozenset[str]:
    """Return all names but local variables, and the words of strings.

    After a dot only members of `self` and `cls` count, as `.x`.
    """
    names = {*_find_identifiers_in_strings(found.strings), *_find_global_names(found)}
    bound = found.bound
    before, last = '', ''
    for token in found.tokens:
        if token.role is not None and last == '.':
            if before in _OWN:
                names.add(f'.{token.text}')
        elif token.role in _FREE and token.text not in bound:
            names.add(token.text)
        before, last = last, token.text
    return frozenset(names)


def _find_global_names(found: PythonSlice) -> Iterator[str]:
    """Yield the names in statements `global`: variables of the module, though they are assigned."""
    is_global = False
    for token in found.tokens:
        if token.role is None:
            is_global = token.text == 'global' or (is_global and token.text == ',')
        elif is_global:
            yield token.text


def _walk_nodes(root: Node) -> Iterator[Node]:
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


_SUITES = frozenset(
    {
        *('function_definition', 'class_definition', 'if_statement', 'for_statement'),
        *('while_statement', 'try_statement', 'with_statement', 'else_clause', 'elif_clause'),
        *('except_clause', 'finally_clause'),
    }
)


def _has_suite(node: Node) -> bool:
    if node.type not in _SUITES:
        return True
    blocks = [child for child in node.children if child.type == 'block']
    return bool(blocks) and all(
        any(child.type != 'comment' for child in block.named_children) for block in blocks
    )
