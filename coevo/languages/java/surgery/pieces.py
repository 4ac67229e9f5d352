"""A Java file as pieces that can be taken out of it or put into another version of it.

A piece is an import, a member or a whole type, with the comments above it and behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby

from tree_sitter import Parser

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Import
from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests
from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.java.reading.tokens import JavaSlice
from coevo.languages.java.reading.tokens import JavaToken
from coevo.languages.java.reading.tokens import JavaTokens
from coevo.languages.spans import Span
from coevo.languages.spans import code_end
from coevo.languages.spans import outside

_WORDS = re.compile(r'[A-Za-z_$][\w$]*')
_IDENTIFIERS = ('identifier', 'type_identifier')
_PRIMITIVES = frozenset(
    {'boolean', 'byte', 'char', 'double', 'float', 'int', 'long', 'short', 'var', ']'}
)

Key = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""Kind, owner, names and parameters: what two versions of one piece have in common."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JavaPiece:
    """A declaration, equal to itself alone; start and end (bytes) take in its comments.

    kind      import, method, constructor, field, initializer or type
    owner     binary name of the type around it, '' if there is none
    names     what it declares: several for a field of several declarators, '*' for a wildcard
    uses      every name in it that may mean another piece
    mentions  those of them that stand without a qualifier, local variables aside
    """

    kind: str
    owner: str
    names: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    start: int
    end: int
    uses: frozenset[str] = frozenset()
    mentions: frozenset[str] = frozenset()
    private: bool = False
    members: tuple[Member, ...] = ()
    imported: Import | None = None

    def is_meant(self, names: AbstractSet[str]) -> bool:
        """Whether some names may mean it."""
        return not names.isdisjoint(self.names)

    @property
    def key(self) -> Key:
        return self.kind, self.owner, self.names, self.parameters

    @property
    def span(self) -> Span:
        return self.start, self.end


class JavaOutline:
    """A parsed file with what it takes to cut it into pieces."""

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

    def outer(self, name: str) -> str:
        """The binary name of the type around a nested one; '' where this file has none."""
        type_ = self.types.get(name)
        return type_.outer if type_ is not None else ''

    def text(self, piece: JavaPiece) -> bytes:
        return self.source[piece.start : piece.end]

    def names_outside(self, spans: Iterable[Span]) -> frozenset[str]:
        """Identifiers and words of string literals in what `spans` leave, imports aside."""
        imports = [(item.start_byte, item.end_byte) for item in self.file.imports]
        found = self._tokens.within(outside((0, len(self.source)), [*imports, *spans]))
        return found.names | _words(found.strings)

    def imports(self) -> list[JavaPiece]:
        return [
            JavaPiece(
                kind='import',
                owner='static' if item.static else '',
                names=(item.name,),
                parameters=(item.text,),
                imported=item,
                start=self._above(item.start_byte),
                end=self._behind(item.end_byte),
            )
            for item in self.file.imports
        ]

    def members(self, type_: DeclaredType) -> Iterator[JavaPiece]:
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
                uses=frozenset().union(*map(_uses, members)),
                mentions=_mentions(self._tokens.within([_bounds(first)]), own),
                start=self._above(first.start_byte),
                end=self._behind(first.end_byte),
            )

    def whole(self, type_: DeclaredType) -> JavaPiece:
        """A type with all that is in it."""
        found = self._tokens.within([(type_.start_byte, type_.end_byte)])
        return JavaPiece(
            kind='type',
            owner=type_.outer,
            names=(type_.simple,),
            private='private' in type_.modifiers,
            uses=(found.names | _words(found.strings)) - {type_.simple},
            mentions=_mentions(found, frozenset({type_.simple})),
            start=self._above(type_.start_byte),
            end=self._behind(type_.end_byte),
        )

    def pieces(self, opened: AbstractSet[str]) -> list[JavaPiece]:
        """All pieces in order: the types named in `opened` by their members, the others whole."""
        found = self.imports()
        for type_ in self.file.types:
            if type_.name in opened:
                found += self.members(type_)
            elif not type_.outer or type_.outer in opened:
                found.append(self.whole(type_))
        return sorted(found, key=lambda piece: piece.start)

    def tests(self) -> list[Member]:
        """The test methods as far as this file alone tells."""
        return [member for _, member in find_tests(self.file, self.file.index_types())]

    def _above(self, start: int) -> int:
        """Where the comments begin that stand directly above, on lines of their own."""
        while True:
            before = code_end(self.source, start)
            comment = self._comment_starts.get(before, self._comment_starts.get(before + 1))
            if comment is None or self.source.count(b'\n', before, start) > 1:
                return start
            line = self.source[self.source.rfind(b'\n', 0, comment) + 1 : comment]
            if line.strip():
                return start
            start = comment

    def _behind(self, end: int) -> int:
        """Where a comment ends that closes the line."""
        stop = self.source.find(b'\n', end)
        line = self.source[end : stop if stop >= 0 else len(self.source)]
        begin = end + len(line) - len(line.lstrip())
        comment = self._comment_ends.get(begin)
        if comment is None or self.source[comment : max(comment, stop)].strip():
            return end
        return end + len(self.source[end:comment].rstrip())


def inside(file: JavaOutline, piece: JavaPiece) -> list[str]:
    """The binary names of the types that a piece takes in."""
    return [t.name for t in file.file.types if piece.start <= t.start_byte < piece.end]


def _bounds(member: Member) -> Span:
    return member.start_byte, member.end_byte


def _uses(member: Member) -> frozenset[str]:
    """Names used; its own only if it invokes an overload or names its source by being named so."""
    own = {member.name}
    if member.name in member.calls or 'MethodSource' in member.annotations:
        own = set()
    return (member.names - own) | _words(member.strings)


def _words(strings: Iterable[str]) -> frozenset[str]:
    """Identifiers in strings without spaces, such as `@MethodSource("numbers")` has."""
    return frozenset(w for s in strings if not s.count(' ') for w in _WORDS.findall(s))


def _mentions(found: JavaSlice, own: AbstractSet[str]) -> frozenset[str]:
    """Names without a qualifier but `this` or a class's own name; local variables left out."""
    free, qualified, declared = set(_words(found.strings)), set(), set()
    edge = JavaToken(start=-1, text='', kind='')
    tokens = (edge, edge, *found.tokens, edge)
    for i, token in enumerate(tokens):
        if token.kind not in _IDENTIFIERS:
            continue
        if tokens[i - 1].text in ('.', '::'):
            if tokens[i - 2].text in {'this', 'super', *own}:
                qualified.add(token.text)
        elif _declares(tokens[i - 1], tokens[i + 1]):
            declared.add(token.text)
        else:
            free.add(token.text)
    return frozenset((free - declared) | qualified)


def _declares(before: JavaToken, after: JavaToken) -> bool:
    """Whether what stands between two tokens is the name of a variable that is declared there."""
    if before.kind == 'type_identifier' or before.text in _PRIMITIVES:
        return True
    return before.text == '>' and after.text == '='
