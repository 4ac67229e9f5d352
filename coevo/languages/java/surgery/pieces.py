"""Split a Java file into pieces that can be removed from it or added to another version of it.

A piece is an import, a member or a whole type, with the comments above it and after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

from tree_sitter import Parser

from coevo.languages.declarations import DeclaredType, Import, Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests, is_run_by_framework
from coevo.languages.java.reading.tokens import JAVA, JavaSlice, JavaToken, JavaTokens
from coevo.languages.spans import Span, find_code_end, subtract_holes
from coevo.languages.surgery import StartStateInvalid
from coevo.model.records import TestMethod

_WORDS = re.compile(r'[A-Za-z_$][\w$]*')
_IDENTIFIERS = ('identifier', 'type_identifier')
_PRIMITIVES = frozenset(
    {'boolean', 'byte', 'char', 'double', 'float', 'int', 'long', 'short', 'var', ']'}
)

Key = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""Kind, owner, names and parameters, which identify a piece in two versions of a file."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JavaPiece:
    """A part of a file that can be cut out: an import, a member, or a whole type.

    A piece is equal only to itself.

    kind      import, method, constructor, field, initializer or type
    owner     binary name of the enclosing type, '' if there is none
    names     the declared names: several for a field with several declarators, '*' for a wildcard
    start     first byte, with the comments above
    end       byte after the last one, with the comment after the declaration
    uses      every name in it that may refer to another piece
    names_to_bring_along  those names in `uses` that occur unqualified, without local variables
    """

    kind: str
    owner: str
    names: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    start: int
    end: int
    uses: frozenset[str] = frozenset()
    names_to_bring_along: frozenset[str] = frozenset()
    private: bool = False
    members: tuple[Member, ...] = ()
    imported: Import | None = None

    def may_be_named_by(self, names: AbstractSet[str]) -> bool:
        """Return whether one of the names is declared by this piece."""
        return not names.isdisjoint(self.names)

    @property
    def key(self) -> Key:
        """The identity of the piece, see `Key`."""
        return self.kind, self.owner, self.names, self.parameters

    @property
    def start_byte(self) -> int | None:
        """The offset of the declaration without its comments; None for imports and types."""
        return self.members[0].start_byte if self.members else None

    @property
    def span(self) -> Span:
        """The piece's byte offsets, including its comments."""
        return self.start, self.end


class JavaOutline:
    """A parsed file with the data for cutting it into pieces."""

    def __init__(self, source: bytes) -> None:
        root = Parser(JAVA).parse(source).root_node
        self.source = source
        self.file = parse(source)
        self.types = {type_.name: type_ for type_ in reversed(self.file.types)}
        self.package_end = next(
            (n.end_byte for n in root.children if n.type == 'package_declaration'), 0
        )
        self._tokens = JavaTokens(root, source)
        self._comment_starts = {end: start for start, end in self._tokens.comments}
        self._comment_ends = dict(self._tokens.comments)

    def get_text(self, piece: JavaPiece) -> bytes:
        """Return the source of a piece."""
        return self.source[piece.start : piece.end]

    def find_names_outside(self, spans: Iterable[Span]) -> frozenset[str]:
        """Return the identifiers and the words in string literals outside the spans and imports.

        Literals that contain a space do not count.
        """
        imports = [(item.start_byte, item.end_byte) for item in self.file.imports]
        remaining = self._tokens.slice_spans(
            subtract_holes((0, len(self.source)), [*imports, *spans])
        )
        return remaining.names | _find_identifiers_in_strings(remaining.strings)

    def list_imports(self) -> list[JavaPiece]:
        """Return the imports as pieces."""
        return [
            JavaPiece(
                kind='import',
                owner='static' if item.static else '',
                names=(item.name,),
                parameters=(item.text,),
                imported=item,
                start=self._find_start_with_comments(item.start_byte),
                end=self._find_end_with_comment(item.end_byte),
            )
            for item in self.file.imports
        ]

    def list_members(self, type_: DeclaredType) -> Iterator[JavaPiece]:
        """Yield one piece for each member of a type; `int a, b;` is a single piece.

        Nested types are not members.
        """
        own = frozenset({type_.simple, *type_.around})
        for _, group in groupby(type_.members, key=lambda member: member.start_byte):
            members = tuple(group)
            first = members[0]
            yield JavaPiece(
                kind=first.kind,
                owner=first.owner,
                names=tuple(member.name for member in members),
                parameters=first.parameters,
                private='private' in first.modifiers,
                members=members,
                uses=frozenset().union(*map(_find_used_names, members)),
                names_to_bring_along=_find_unqualified_names(
                    self._tokens.slice_spans([_get_span(first)]), own
                ),
                start=self._find_start_with_comments(first.start_byte),
                end=self._find_end_with_comment(first.end_byte),
            )

    def make_piece_of_type(self, type_: DeclaredType) -> JavaPiece:
        """Return a type with all of its contents as one piece."""
        tokens = self._tokens.slice_spans([(type_.start_byte, type_.end_byte)])
        return JavaPiece(
            kind='type',
            owner=type_.enclosing_name,
            names=(type_.simple,),
            private='private' in type_.modifiers,
            uses=(tokens.names | _find_identifiers_in_strings(tokens.strings)) - {type_.simple},
            names_to_bring_along=_find_unqualified_names(tokens, frozenset({type_.simple})),
            start=self._find_start_with_comments(type_.start_byte),
            end=self._find_end_with_comment(type_.end_byte),
        )

    def list_pieces(self, opened: AbstractSet[str]) -> list[JavaPiece]:
        """Return the pieces of the file in source order.

        A type in `opened` (binary names) is split into its members; any other type is one piece.
        """
        pieces = self.list_imports()
        for type_ in self.file.types:
            if type_.name in opened:
                pieces += self.list_members(type_)
            elif not type_.enclosing_name or type_.enclosing_name in opened:
                pieces.append(self.make_piece_of_type(type_))
        return sorted(pieces, key=lambda piece: piece.start)

    def iterate_removable_types(self) -> Iterator[tuple[DeclaredType, JavaPiece]]:
        """Yield each type with its piece, except the file's top-level type if there is only one."""
        is_alone = len([type_ for type_ in self.types.values() if not type_.enclosing_name]) == 1
        for type_ in self.file.types:
            if type_.enclosing_name or not is_alone:
                yield type_, self.make_piece_of_type(type_)

    @cached_property
    def tests(self) -> tuple[Member, ...]:
        """The test methods that can be recognised from this file alone."""
        return tuple(member for _, member in find_tests(self.file, self.file.index_types()))

    def find_declaration(self, method: TestMethod, when: str) -> Member:
        """Return the declaration of a test method.

        Raises: StartStateInvalid if there is none; its message always says `new`, whatever `when`
        is.
        """
        for member in self._find_members_like(method):
            return member
        raise StartStateInvalid(
            f'{method.test_class}#{method.test_method} is not in the file at new'
        )

    def find_replaceable_namesake(self, method: TestMethod) -> TestMethod | None:
        """Return `method` if its class here has a method with its name and parameters; else None.

        Also None if only fixtures have them, since a fixture cannot be a test.
        """
        alike = self._find_members_like(method)
        return None if all(map(is_run_by_framework, alike)) else method

    def is_well_formed(self) -> bool:
        """Return whether the file has no syntax errors."""
        return not self.file.has_error

    def _find_members_like(self, method: TestMethod) -> Iterator[Member]:
        wanted = (method.test_method, method.parameters)
        type_ = self.types.get(method.test_class)
        for member in type_.members if type_ else ():
            if member.kind == 'method' and (member.name, member.parameters) == wanted:
                yield member

    def _find_start_with_comments(self, start: int) -> int:
        """Return the start of the comments above a declaration, or `start` if there are none.

        They must be on lines of their own, without an empty line below.
        """
        while True:
            before = find_code_end(self.source, start)
            comment = self._comment_starts.get(before, self._comment_starts.get(before + 1))
            if comment is None or self.source.count(b'\n', before, start) > 1:
                return start
            line = self.source[self.source.rfind(b'\n', 0, comment) + 1 : comment]
            if line.strip():
                return start
            start = comment

    def _find_end_with_comment(self, end: int) -> int:
        """Return the end of a comment that follows on the same line; `end` if there is none."""
        stop = self.source.find(b'\n', end)
        line = self.source[end : stop if stop >= 0 else len(self.source)]
        begin = end + len(line) - len(line.lstrip())
        comment = self._comment_ends.get(begin)
        if comment is None or self.source[comment : max(comment, stop)].strip():
            return end
        return end + len(self.source[end:comment].rstrip())


@lru_cache(maxsize=16)
def make_outline(source: bytes) -> JavaOutline:
    """Return the outline of a file; cached."""
    return JavaOutline(source)


def _get_span(member: Member) -> Span:
    return member.start_byte, member.end_byte


# Annotations that take arguments from a member with the test's name if they name none.
_NAMED_AFTER_TEST = frozenset({'MethodSource', 'FieldSource'})


def _find_used_names(member: Member) -> frozenset[str]:
    """Return the names that a member uses.

    Its own name counts only if it invokes an overload, or if an annotation for its arguments
    defaults to that name.
    """
    own = {member.name}
    if member.name in member.calls or not _NAMED_AFTER_TEST.isdisjoint(member.annotations):
        own = set()
    return (member.names - own) | _find_identifiers_in_strings(member.strings)


def _find_identifiers_in_strings(strings: Iterable[str]) -> frozenset[str]:
    """Return identifiers in strings without spaces, such as `@MethodSource("numbers")`."""
    return frozenset(w for s in strings if not s.count(' ') for w in _WORDS.findall(s))


def _find_unqualified_names(found: JavaSlice, own: AbstractSet[str]) -> frozenset[str]:
    """Return the names that stand alone, or after `this`, `super` or a class in `own`.

    Local variables are left out; words of strings without spaces are included.
    """
    free, qualified, declared = set(_find_identifiers_in_strings(found.strings)), set(), set()
    edge = JavaToken(start=-1, text='', kind='')
    tokens = (edge, edge, *found.tokens, edge)
    for i, token in enumerate(tokens):
        if token.kind not in _IDENTIFIERS:
            continue
        if tokens[i - 1].text in ('.', '::'):
            if tokens[i - 2].text in {'this', 'super', *own}:
                qualified.add(token.text)
        elif _declares_variable(tokens[i - 1], tokens[i + 1]):
            declared.add(token.text)
        else:
            free.add(token.text)
    return frozenset((free - declared) | qualified)


def _declares_variable(before: JavaToken, after: JavaToken) -> bool:
    """Return whether the token between two others is the name of a variable declared there."""
    if before.kind == 'type_identifier' or before.text in _PRIMITIVES:
        return True
    return before.text == '>' and after.text == '='
