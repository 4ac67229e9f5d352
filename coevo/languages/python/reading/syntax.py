"""Python declarations by tree-sitter: modules, classes and their members with spans, hashes, names used.

A module is a type that holds its functions, its variables and, as types nested in it, its classes: the
class `C` of `a/b.py` is `a.b$C`, its method's owner. Hashes are over what the compiler is told, see
`coevo.languages.python.reading.tokens`. Functions and classes in functions belong to these.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from functools import lru_cache

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.nesting import is_too_deep
from coevo.languages.python.reading.comments import Comments
from coevo.languages.python.reading.heads import Head
from coevo.languages.python.reading.imports import STATEMENTS as IMPORTS
from coevo.languages.python.reading.imports import imported
from coevo.languages.python.reading.imports import imports_of
from coevo.languages.python.reading.imports import renamed
from coevo.languages.python.reading.places import module_name
from coevo.languages.python.reading.statements import TooDeep
from coevo.languages.python.reading.statements import declared
from coevo.languages.python.reading.statements import definition
from coevo.languages.python.reading.statements import import_statements
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.python.reading.tokens import PythonSlice
from coevo.languages.python.reading.tokens import PythonTokens
from coevo.languages.python.reading.variables import variables
from coevo.model.records import short_hash

# As in Java: far above what people write, and the same on every machine.
MOST_BYTES = 4 << 20
MOST_TOKENS = 4_000_000


class _TooMuch(ValueError):
    pass


@lru_cache(maxsize=2048)
def parse(source: bytes, path: str = '') -> SourceFile:
    """As `parse_once`, kept for a while."""
    return parse_once(source, path)


def parse_once(source: bytes, path: str = '') -> SourceFile:
    """The declarations of a Python file; what can be had of one with syntax errors.

    path  where it stands in its repository, by which its module is named; without it the module is
          named '', its class `C` `$C`
    """
    try:
        return _Reader(source, module_name(path)).file()
    except (_TooMuch, TooDeep):
        return SourceFile(
            package='',
            imports=(),
            types=(),
            has_error=True,
            hash=hashlib.sha256(source).hexdigest()[:16],
            names=frozenset(),
            unreadable=True,
        )


@dataclass(slots=True)
class _KeptFunction:
    member: Member | None = None


@lru_cache(maxsize=1 << 14)
def _kept_function(
    column: int, text: bytes, owner: str, simple: str, aliases: tuple[tuple[str, str], ...]
) -> _KeptFunction:
    """Where to keep a function, which this tells but for where it stands."""
    return _KeptFunction()


class _Reader:
    def __init__(self, source: bytes, module: str) -> None:
        if len(source) > MOST_BYTES:
            raise _TooMuch
        self.source = source
        self.module = module
        self.root = Parser(PYTHON).parse(source).root_node
        self.tokens = PythonTokens(self.root, source)
        if is_too_deep(self.tokens.texts):
            raise _TooMuch
        self._comments = Comments(source, self.tokens.comments)
        self._imports = import_statements(self.root)
        self._renamed = renamed(self._imports, source)
        self._aliases = tuple(sorted(self._renamed.items()))
        self._read = 0  # tokens of members, once for each name that they declare

    def file(self) -> SourceFile:
        top = [node for node in self.root.children if node.type in IMPORTS]
        rest = self.tokens.of(self.root, self._imports)
        names = [one for node in top for one in imported(node, self.source)]
        lines = sorted(f'{one.module} {one.name} {one.bound}' for one in names)
        outer = {node.id for node in top}
        inner = [node for node in self._imports if node.id not in outer]
        lines += [text for node in inner for text in self.tokens.of(node).texts]
        return SourceFile(
            package=self.module.rpartition('.')[0],
            imports=tuple(imports_of(self._imports, self.source)),
            types=tuple(self._module()),
            has_error=self.root.has_error,
            hash=short_hash(*lines, *rest.texts),
            names=self._names(rest.names),
        )

    def _names(self, names: frozenset[str]) -> frozenset[str]:
        """With what aliases stand for."""
        return names | {real for alias, real in self._renamed.items() if alias in names}

    def _module(self) -> Iterator[DeclaredType]:
        simple = self.module.rpartition('.')[2]
        statements = list(declared(self.root))
        module = self._type(self.root, statements, self.module, simple, ())
        yield replace(
            module, kind='module', declaration=f'module {self.module}', end_byte=len(self.source)
        )
        yield from self._classes(statements, self.module, (simple,))

    def _classes(
        self, statements: Iterable[Node], outer: str, around: tuple[str, ...]
    ) -> Iterator[DeclaredType]:
        """The classes among statements, each followed by those nested in it."""
        for node in statements:
            if definition(node).type != 'class_definition':
                continue
            head = Head(node, self.source, self._renamed)
            name, inner = f'{outer}${head.name}', list(declared(head.body)) if head.body else []
            found = self._type(node, inner, name, head.name, around)
            first, *others = head.bases or (None,)
            yield replace(
                found,
                superclass=first,
                interfaces=tuple(name for name in others if name is not None),
                abstract=head.is_abstract,
                modifiers=head.modifiers,
                annotations=head.annotations,
                declaration=head.declaration,
            )
            yield from self._classes(inner, name, (*around, head.name))

    def _type(
        self, node: Node, statements: list[Node], name: str, simple: str, around: tuple[str, ...]
    ) -> DeclaredType:
        """What a module and a class have in common."""
        members = [m for n in statements for m in self._members(n, name, simple)]
        nested = [n for n in statements if definition(n).type == 'class_definition']
        bodies = [n for n in statements if definition(n).type == 'function_definition']
        imports = [n for n in statements if n.type in IMPORTS] if not around else []
        apart = {n.id for n in (*nested, *bodies, *imports)}
        others = [n for n in statements if n.id not in apart]
        header = self.tokens.of(node, [*nested, *bodies, *imports])
        shape = self.tokens.of(node, [*nested, *bodies, *imports, *others])
        return DeclaredType(
            name=name,
            simple=simple,
            around=around,
            kind='class',
            superclass=None,
            interfaces=(),
            abstract=False,
            modifiers=frozenset(),
            annotations=(),
            declaration='',
            header_hash=short_hash(*header.texts),
            shape_hash=short_hash(*shape.bare(simple, simple)),
            names=self._names(shape.names - {simple}),
            calls=self._names(shape.calls),
            strings=shape.strings,
            members=tuple(_told_apart(members)),
            start_byte=node.start_byte if around else 0,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1 if around else 1,
            end_line=node.end_point.row + 1,
        )

    def _members(self, node: Node, owner: str, simple: str) -> Iterator[Member]:
        inner = definition(node)
        if node.type in IMPORTS or inner.type == 'class_definition':
            return
        if inner.type == 'function_definition':
            yield self._shared_function(node, owner, simple)
            return
        found = self.tokens.of(node)
        if not found.texts or found.texts[:1] == ('pass',):
            return
        names = variables(node, self.source, found)
        plain = self._member(node, owner, simple, '<init>', found)
        if not names:
            yield replace(plain, kind='initializer', modifiers=frozenset({'static'}))
        for name in names:
            self._count(len(found.texts))
            yield replace(
                plain,
                name=name,
                modifiers=frozenset({'private'} if name.startswith('_') else ()),
                declaration=name,
                bare_hash=short_hash(*found.bare(name, simple)),
            )

    def _shared_function(self, node: Node, owner: str, simple: str) -> Member:
        """A function, taken from another file where its text was read there."""
        text = self.tokens.kept(node)
        if text is None:
            return self._function(node, owner, simple, self.tokens.of(node))
        kept = _kept_function(node.start_point.column, text, owner, simple, self._aliases)
        if kept.member is None:
            kept.member = self._function(node, owner, simple, self.tokens.of(node))
            return kept.member
        self._count(len(kept.member.tokens))
        return replace(
            kept.member,
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=self._comments.above(node.start_byte),
        )

    def _count(self, tokens: int) -> None:
        self._read += tokens
        if self._read > MOST_TOKENS:
            raise _TooMuch

    def _function(self, node: Node, owner: str, simple: str, found: PythonSlice) -> Member:
        head = Head(node, self.source, self._renamed)
        is_constructor = head.name == '__init__' and '$' in owner
        body = None if head.body is None else self.tokens.of(head.body)
        if head.is_test_of_none:
            found = found.without_return
        return replace(
            self._member(node, owner, simple, head.name, found),
            kind='constructor' if is_constructor else 'method',
            name=simple if is_constructor else head.name,
            parameters=head.accessor,
            modifiers=head.modifiers,
            annotations=head.annotations,
            declaration=head.declaration,
            body_hash=None if body is None else short_hash('body', *body.bare(head.name, simple)),
            body_at=None if head.body is None else self._length(node, head.body),
        )

    def _length(self, node: Node, body: Node) -> int:
        """Characters of a declaration before its block."""
        return len(self.source[node.start_byte : body.start_byte].decode(errors='replace'))

    def _member(self, node: Node, owner: str, simple: str, name: str, found: PythonSlice) -> Member:
        self._count(len(found.texts))
        return Member(
            kind='field',
            name=name,
            owner=owner,
            parameters=(),
            modifiers=frozenset(),
            annotations=(),
            declaration='',
            source=self.source[node.start_byte : node.end_byte].decode(errors='replace'),
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=self._comments.above(node.start_byte),
            hash=short_hash(*found.texts),
            bare_hash=short_hash(*found.bare(name, simple)),
            body_hash=None,
            body_at=None,
            calls=self._names(found.calls),
            types=found.types,
            names=self._names(found.names),
            strings=found.strings,
            tokens=found.texts,
        )


def _told_apart(members: list[Member]) -> Iterator[Member]:
    """A later function of a name hides the earlier ones, which are numbered in place of parameters."""
    left: Mapping[object, int] = Counter((m.kind, m.name, m.parameters) for m in members)
    seen: Counter[object] = Counter()
    for member in members:
        key = (member.kind, member.name, member.parameters)
        seen[key] += 1
        if member.kind in ('method', 'constructor') and seen[key] < left[key]:
            yield replace(member, parameters=(*member.parameters, str(seen[key])))
        else:
            yield member
