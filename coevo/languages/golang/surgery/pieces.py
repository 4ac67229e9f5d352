"""Describes a Go file as pieces that can be removed from it or put into another version of it.

A piece is a declaration with the comments above it and at its end: a function, a line of variables,
constants that are counted together, a type with all its methods. Imports are not pieces: they
follow from the rest, see `coevo.languages.golang.surgery.cuts`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tree_sitter import Parser

from coevo.languages.core.outlines import list_used_names
from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.golang.reading.declared import GoDeclaration, list_declarations
from coevo.languages.golang.reading.imports import infer_import_names, list_imports
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.tests import is_run_by_framework, is_test
from coevo.languages.golang.reading.token_walk import GO, GoTokenIndex
from coevo.languages.golang.reading.tokens import GoTokenRole, GoTokenSlice
from coevo.languages.grammars import DeclarationComments
from coevo.languages.spans import Span
from coevo.languages.surgery import StartStateInvalid
from coevo.model.records import TestMethod

_TYPES = frozenset({GoTokenRole.TYPE, GoTokenRole.CREATED})
_FREE = (
    frozenset({GoTokenRole.LOADED, GoTokenRole.CALLED, GoTokenRole.OPERAND, GoTokenRole.KEY})
    | _TYPES
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoPart:
    """A stretch of a piece, in bytes.

    text   the part with its comments
    whole  the declaration that contains it, with comments; it may contain other parts, too
    """

    text: Span
    whole: Span

    @property
    def is_line(self) -> bool:
        """True if it is one of several lines under one keyword."""
        return self.text != self.whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoPiece:
    """A declaration; each piece equals only itself.

    kind        func, type, var or const; or method if another file declares its type
    names       the declared names: `F`, `T`, or `T.M` for such a method; none for a variable named
                `_`
    parts       for a type, its own text first and then its methods
    uses        names that may refer to other pieces; `.x` for a name that stood after a dot
    qualifiers  names that may be those of packages
    stays       whether it runs by itself or is a test
    """

    kind: str
    names: tuple[str, ...]
    parts: tuple[GoPart, ...]
    uses: frozenset[str]
    qualifiers: frozenset[str]
    stays: bool

    def may_be_named_by(self, names: AbstractSet[str]) -> bool:
        """Return whether one of some names is a name that the piece declares."""
        return not names.isdisjoint(self.names)

    @property
    def first_part(self) -> GoPart:
        """The first part; for a type, its own text."""
        return self.parts[0]

    @property
    def owner(self) -> str:
        """Always '': everything in a Go file belongs to its package."""
        return ''

    @property
    def names_to_bring_along(self) -> frozenset[str]:
        """All names in `uses`: the pieces of all of them may come along to another file."""
        return self.uses

    @property
    def span(self) -> Span:
        """Start and end of the first part with its comments; for a type, without its methods."""
        return self.first_part.text

    @property
    def start_byte(self) -> int:
        """The first byte of the first part, with its comments."""
        return self.span[0]


class GoOutline:
    """A parsed Go file that can be cut into pieces.

    imports  all imports, in order
    bound    the name of each import that the file uses by name, by the path of the import

    Raises:
        StartStateInvalid: the file is too large or too deeply nested to be read.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.file = parse(source)
        if self.file.unreadable:
            raise StartStateInvalid('a file is too large or too deeply nested for coevo to read')
        self.root = Parser(GO).parse(source).root_node
        self._tokens = GoTokenIndex(self.root, source)
        self._comments = DeclarationComments(source, self._tokens.comments)
        self._top = next((c.start_byte for c in self.root.children if c.type != 'comment'), 0)
        self.imports = tuple(list_imports(self.root, source))
        self.bound: Mapping[str, str] = infer_import_names(
            self.imports, self._tokens.slice_spans([(0, len(source))]).qualifiers
        )

    @cached_property
    def pieces(self) -> tuple[GoPiece, ...]:
        """All pieces in order: functions, variables, constants, and types with their methods.

        A method is a piece of its own only if another file declares its type.
        """
        declarations = list(list_declarations(self.root, self.source))
        own = {declaration.names[0] for declaration in declarations if declaration.kind == 'type'}
        methods: dict[str, list[GoDeclaration]] = {}
        for declaration in declarations:
            if declaration.receiver in own:
                methods.setdefault(declaration.receiver or '', []).append(declaration)
        pieces = []
        for declaration in declarations:
            if declaration.kind == 'type':
                pieces.append(
                    self._make_piece(
                        'type',
                        declaration.names,
                        [declaration, *methods.pop(declaration.names[0], [])],
                    )
                )
            elif declaration.receiver is None:
                names = tuple(name for name in declaration.names if name != '_')
                pieces.append(self._make_piece(declaration.kind, names, [declaration]))
            elif declaration.receiver not in own:
                pieces.append(
                    self._make_piece(
                        'method', (f'{declaration.receiver}.{declaration.names[0]}',), [declaration]
                    )
                )
        return tuple(pieces)

    @cached_property
    def members(self) -> Mapping[int, Member]:
        """The functions and methods by the offset of their first byte."""
        return {
            member.start_byte: member
            for type_ in self.file.types
            for member in type_.members
            if member.kind == 'method'
        }

    @property
    def qualifiers(self) -> frozenset[str]:
        """The names before dots in the file that may be those of packages."""
        return frozenset().union(*(piece.qualifiers for piece in self.pieces))

    @property
    def tests(self) -> tuple[Member, ...]:
        """The functions of the file that are tests by name, parameter and expected output."""
        return tuple(member for member in self.members.values() if is_test(member))

    @cached_property
    def declared_names(self) -> frozenset[str]:
        """The names that all pieces declare."""
        return frozenset(name for piece in self.pieces for name in piece.names)

    def load_part(self, part: GoPart) -> bytes:
        """Return the text of a part, with its comments."""
        return self.source[part.text[0] : part.text[1]]

    @property
    def types(self) -> Mapping[str, DeclaredType]:
        """An empty mapping: no type can be opened, since a type is one piece with its methods."""
        return {}

    def list_pieces(self, opened: AbstractSet[str]) -> Sequence[GoPiece]:
        """Return all pieces in order; `opened` has no effect."""
        return self.pieces

    def iterate_removable_types(self) -> Iterator[tuple[DeclaredType, GoPiece]]:
        """Yield nothing: types do not contain tests."""
        return iter(())

    def find_names_outside(self, spans: Collection[Span]) -> frozenset[str]:
        """Return the names that pieces outside `spans` use.

        Variables named `_` are left out: `var _ I = T{}` does not count as a use of T.
        """
        covered = set(spans)
        others = (piece for piece in self.pieces if piece.names and piece.span not in covered)
        return frozenset(list_used_names(others))

    def find_replaceable_namesake(self, method: TestMethod) -> TestMethod | None:
        """Return the method itself if the file has a function of its name; None if not.

        The function need not be a test.
        """
        functions = [piece.names for piece in self.pieces if piece.kind == 'func']
        return method if (method.test_method,) in functions else None

    def is_well_formed(self) -> bool:
        """Return whether the file parses without errors."""
        return not self.file.has_error

    def find_declaration(self, method: TestMethod, when: str) -> GoPiece:
        """Return the piece that declares a test, or any function, variable, constant or type.

        when  the revision (`old` or `new`), for the message

        Raises:
            StartStateInvalid: the file does not declare it.
        """
        wanted = method.test_method or method.test_class.rpartition('$')[2]
        for piece in self.pieces:
            if piece.kind != 'method' and wanted in piece.names:
                return piece
        raise StartStateInvalid(
            f'{method.test_class}#{method.test_method} is not in the file at {when}'
        )

    def widen_to_comments(self, span: Span) -> Span:
        """Return a span with the comments directly above it and at its end.

        Comments at the top of the file are not included: they are about the file.
        """
        start = self._comments.find_start_above(span[0])
        # Comments at the top of the file are about the file.
        first = start if start > self._top else span[0]
        return first, self._comments.find_end_behind(span[1])

    def _make_piece(self, kind: str, names: tuple[str, ...], parts: list[GoDeclaration]) -> GoPiece:
        slice_ = self._tokens.slice_spans(
            [span for part in parts for span in self._list_read_spans(part)]
        )
        first = self.members.get(parts[0].node.start_byte)
        return GoPiece(
            kind=kind,
            names=names,
            parts=tuple(map(self._make_part, parts)),
            uses=frozenset(_list_uses(slice_)) - set(names),
            qualifiers=slice_.qualifiers,
            stays=first is not None and (is_run_by_framework(first) or is_test(first)),
        )

    def _list_read_spans(self, one: GoDeclaration) -> Iterator[Span]:
        """Yield the spans of a declaration whose tokens are read: its lines, and what is above it.

        The comments above it may contain directives.
        """
        yield self._comments.find_start_above(one.node.start_byte), one.node.start_byte
        yield from ((node.start_byte, node.end_byte) for node in one.inner)

    def _make_part(self, one: GoDeclaration) -> GoPart:
        node, parent = one.node, one.node
        while parent.parent is not None and parent.parent.type != 'source_file':
            parent = parent.parent
        return GoPart(
            text=self.widen_to_comments((node.start_byte, node.end_byte)),
            whole=self.widen_to_comments((parent.start_byte, parent.end_byte)),
        )


@lru_cache(maxsize=32)
def make_outline(source: bytes) -> GoOutline:
    """Return the outline of a file; cached for the last 32 files.

    Raises:
        StartStateInvalid: the file is too large or too deeply nested to be read.
    """
    return GoOutline(source)


def _list_uses(found: GoTokenSlice) -> Iterator[str]:
    before = ''
    for token in found.tokens:
        if before == '.' and token.role is not None:
            yield f'.{token.text}'
        elif token.role in _FREE:
            yield token.text
        before = token.text
