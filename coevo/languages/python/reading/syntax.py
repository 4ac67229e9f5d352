"""Parse Python declarations with tree-sitter: modules, classes and members with spans and hashes.

A module is a type: its members are its functions and variables, and its classes are types nested in
it. The class `C` of `a/b.py` is `a.b$C`, which is also the owner of its methods. Hashes cover what
the compiler sees, see `coevo.languages.python.reading.tokens`. Functions and classes inside a
function belong to that function.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from tree_sitter import Node, Parser

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.grammars import DeclarationComments
from coevo.languages.python.reading.imports import (
    STATEMENTS as IMPORTS,
    list_imported_names,
    list_imports,
    map_renamed_imports,
)
from coevo.languages.python.reading.module_paths import derive_module_name
from coevo.languages.python.reading.statements import (
    Head,
    StatementsTooDeep,
    find_all_import_statements,
    get_definition,
    list_statements_exposing_definitions,
)
from coevo.languages.python.reading.tokens import PYTHON, PythonSlice, PythonTokens
from coevo.languages.spans import is_nested_too_deep
from coevo.model.records import compute_short_hash

# As for Java: far above any hand-written file, and the same on every machine.
MOST_BYTES = 4 << 20
MOST_TOKENS = 4_000_000


class _PythonSourceTooLarge(ValueError):
    pass


@lru_cache(maxsize=2048)
def parse(source: bytes, path: str = '') -> SourceFile:
    """Return the result of `parse_uncached` from a cache of recent files."""
    return parse_uncached(source, path)


def parse_uncached(source: bytes, path: str = '') -> SourceFile:
    """Return the declarations of a Python file; with syntax errors, those that can be read.

    A file that is too large or nested too deeply has none, and is marked as unreadable.

    path  its path in the repository, which determines the module name; without it the module is
          named '' and its class `C` is `$C`
    """
    try:
        return _PythonSyntaxReader(source, derive_module_name(path)).parse_file()
    except (_PythonSourceTooLarge, StatementsTooDeep):
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
class _FunctionCache:
    member: Member | None = None


@lru_cache(maxsize=1 << 14)
def _get_function_cache(
    column: int, text: bytes, owner: str, simple: str, aliases: tuple[tuple[str, str], ...]
) -> _FunctionCache:
    """Return the cache entry of a function, empty at first.

    The key is everything that its declaration depends on but its position in the file.
    """
    return _FunctionCache()


class _PythonSyntaxReader:
    def __init__(self, source: bytes, module: str) -> None:
        if len(source) > MOST_BYTES:
            raise _PythonSourceTooLarge
        self.source = source
        self.module = module
        self.root = Parser(PYTHON).parse(source).root_node
        self.tokens = PythonTokens(self.root, source)
        if is_nested_too_deep(self.tokens.texts):
            raise _PythonSourceTooLarge
        self._comments = DeclarationComments(source, self.tokens.comments)
        self._imports = find_all_import_statements(self.root)
        self._renamed = map_renamed_imports(self._imports, source)
        self._aliases = tuple(sorted(self._renamed.items()))
        # number of tokens of all members, counted once per name that a member declares
        self._read = 0

    def parse_file(self) -> SourceFile:
        """Return the declarations of the whole file: module, classes, members, imports."""
        top = [node for node in self.root.children if node.type in IMPORTS]
        rest = self.tokens.slice_node(self.root, self._imports)
        names = [
            imported_name
            for node in top
            for imported_name in list_imported_names(node, self.source)
        ]
        lines = sorted(
            f'{imported_name.module} {imported_name.name} {imported_name.bound}'
            for imported_name in names
        )
        outer = {node.id for node in top}
        inner = [node for node in self._imports if node.id not in outer]
        lines += [text for node in inner for text in self.tokens.slice_node(node).texts]
        return SourceFile(
            package=self.module.rpartition('.')[0],
            imports=tuple(list_imports(self._imports, self.source)),
            types=tuple(self._parse_module_types()),
            has_error=self.root.has_error,
            hash=compute_short_hash(*lines, *rest.texts),
            names=self._add_alias_targets(rest.names),
        )

    def _add_alias_targets(self, names: frozenset[str]) -> frozenset[str]:
        """Return the names together with the original names of import aliases among them."""
        return names | {real for alias, real in self._renamed.items() if alias in names}

    def _parse_module_types(self) -> Iterator[DeclaredType]:
        simple = self.module.rpartition('.')[2]
        statements = list(list_statements_exposing_definitions(self.root))
        module = self._make_type(self.root, statements, self.module, simple, ())
        yield replace(
            module, kind='module', declaration=f'module {self.module}', end_byte=len(self.source)
        )
        yield from self._parse_classes(statements, self.module, (simple,))

    def _parse_classes(
        self, statements: Iterable[Node], outer: str, around: tuple[str, ...]
    ) -> Iterator[DeclaredType]:
        """Yield the classes among statements, each followed by its nested classes."""
        for node in statements:
            if get_definition(node).type != 'class_definition':
                continue
            head = Head(node, self.source, self._renamed)
            name, inner = (
                f'{outer}${head.name}',
                list(list_statements_exposing_definitions(head.body)) if head.body else [],
            )
            declared_type = self._make_type(node, inner, name, head.name, around)
            first, *others = head.base_names or (None,)
            yield replace(
                declared_type,
                superclass=first,
                interfaces=tuple(name for name in others if name is not None),
                abstract=head.is_abstract,
                modifiers=head.modifiers,
                annotations=head.decorator_names,
                declaration=head.declaration,
            )
            yield from self._parse_classes(inner, name, (*around, head.name))

    def _make_type(
        self, node: Node, statements: list[Node], name: str, simple: str, around: tuple[str, ...]
    ) -> DeclaredType:
        """Return a module or class with the parts that both have: members, hashes, names, span."""
        members = [m for n in statements for m in self._parse_members(n, name, simple)]
        nested = [n for n in statements if get_definition(n).type == 'class_definition']
        bodies = [n for n in statements if get_definition(n).type == 'function_definition']
        imports = [n for n in statements if n.type in IMPORTS] if not around else []
        apart = {n.id for n in (*nested, *bodies, *imports)}
        others = [n for n in statements if n.id not in apart]
        header = self.tokens.slice_node(node, [*nested, *bodies, *imports])
        shape = self.tokens.slice_node(node, [*nested, *bodies, *imports, *others])
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
            header_hash=compute_short_hash(*header.texts),
            shape_hash=compute_short_hash(*shape.replace_own_names(simple, simple)),
            names=self._add_alias_targets(shape.names - {simple}),
            calls=self._add_alias_targets(shape.calls),
            strings=shape.strings,
            members=tuple(_number_duplicates(members)),
            start_byte=node.start_byte if around else 0,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1 if around else 1,
            end_line=node.end_point.row + 1,
        )

    def _parse_members(self, node: Node, owner: str, simple: str) -> Iterator[Member]:
        inner = get_definition(node)
        if node.type in IMPORTS or inner.type == 'class_definition':
            return
        if inner.type == 'function_definition':
            yield self._parse_function_with_cache(node, owner, simple)
            return
        tokens = self.tokens.slice_node(node)
        if not tokens.texts or tokens.texts[:1] == ('pass',):
            return
        names = list_bound_names(node, self.source, tokens)
        plain = self._make_member(node, owner, simple, '<init>', tokens)
        if not names:
            yield replace(plain, kind='initializer', modifiers=frozenset({'static'}))
        for name in names:
            self._count_against_token_limit(len(tokens.texts))
            yield replace(
                plain,
                name=name,
                modifiers=frozenset({'private'} if name.startswith('_') else ()),
                declaration=name,
                bare_hash=compute_short_hash(*tokens.replace_own_names(name, simple)),
            )

    def _parse_function_with_cache(self, node: Node, owner: str, simple: str) -> Member:
        """Return a function, copied from one with the same text in any file that was read before.

        Only its position is its own.
        """
        text = self.tokens.get_shareable_text(node)
        if text is None:
            return self._parse_function(node, owner, simple, self.tokens.slice_node(node))
        cache = _get_function_cache(node.start_point.column, text, owner, simple, self._aliases)
        if cache.member is None:
            cache.member = self._parse_function(node, owner, simple, self.tokens.slice_node(node))
            return cache.member
        self._count_against_token_limit(len(cache.member.tokens))
        return replace(
            cache.member,
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=self._comments.find_start_above(node.start_byte),
        )

    def _count_against_token_limit(self, tokens: int) -> None:
        self._read += tokens
        if self._read > MOST_TOKENS:
            raise _PythonSourceTooLarge

    def _parse_function(self, node: Node, owner: str, simple: str, tokens: PythonSlice) -> Member:
        head = Head(node, self.source, self._renamed)
        is_constructor = head.name == '__init__' and '$' in owner
        body = None if head.body is None else self.tokens.slice_node(head.body)
        if head.is_test_returning_none:
            tokens = tokens.without_return_annotation
        return replace(
            self._make_member(node, owner, simple, head.name, tokens),
            kind='constructor' if is_constructor else 'method',
            name=simple if is_constructor else head.name,
            parameters=head.accessor_decorators,
            modifiers=head.modifiers,
            annotations=head.decorator_names,
            declaration=head.declaration,
            body_hash=None
            if body is None
            else compute_short_hash('body', *body.replace_own_names(head.name, simple)),
            body_at=None if head.body is None else self._count_head_characters(node, head.body),
        )

    def _count_head_characters(self, node: Node, body: Node) -> int:
        """Return the number of characters of a declaration before its body, decorators included."""
        return len(self.source[node.start_byte : body.start_byte].decode(errors='replace'))

    def _make_member(
        self, node: Node, owner: str, simple: str, name: str, found: PythonSlice
    ) -> Member:
        self._count_against_token_limit(len(found.texts))
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
            full_start_byte=self._comments.find_start_above(node.start_byte),
            hash=compute_short_hash(*found.texts),
            bare_hash=compute_short_hash(*found.replace_own_names(name, simple)),
            body_hash=None,
            body_at=None,
            calls=self._add_alias_targets(found.calls),
            types=found.types,
            names=self._add_alias_targets(found.names),
            strings=found.strings,
            tokens=found.texts,
        )


def _number_duplicates(members: list[Member]) -> Iterator[Member]:
    """Yield the members, with a number added to all but the last function of a name.

    Only the last one is effective. The number is appended to the parameters, which distinguish
    members of one name.
    """
    left: Mapping[object, int] = Counter((m.kind, m.name, m.parameters) for m in members)
    seen: Counter[object] = Counter()
    for member in members:
        key = (member.kind, member.name, member.parameters)
        seen[key] += 1
        if member.kind in ('method', 'constructor') and seen[key] < left[key]:
            yield replace(member, parameters=(*member.parameters, str(seen[key])))
        else:
            yield member


# The names that a statement of a module or class binds.

_PATTERNS = frozenset({'pattern_list', 'tuple_pattern', 'list_pattern', 'list_splat_pattern'})


def list_bound_names(statement: Node, source: bytes, found: PythonSlice) -> tuple[str, ...]:
    """Return the names that a statement of a module or class binds, in order, without duplicates.

    For a compound statement these are all names bound inside it, including imports.

    found  the tokens of the statement
    """
    if statement.type == 'type_alias_statement':
        return tuple(sorted(found.names - found.calls))[:1] or tuple(sorted(found.names))[:1]
    if statement.type == 'expression_statement':
        names = [
            name for node in statement.named_children for name in _list_assigned_names(node, source)
        ]
    else:
        nodes = [node for node in find_all_import_statements(statement) if node.type in IMPORTS]
        names = [
            imported_name.bound
            for node in nodes
            for imported_name in list_imported_names(node, source)
        ]
        names += sorted(found.bound)
    return tuple(dict.fromkeys(names))


def _list_assigned_names(statement: Node, source: bytes) -> Iterator[str]:
    node: Node | None = statement
    if statement.type == 'augmented_assignment':
        yield from _list_pattern_names(statement.child_by_field_name('left'), source)
        node = statement.child_by_field_name('right')
    while node is not None and node.type == 'assignment':
        yield from _list_pattern_names(node.child_by_field_name('left'), source)
        node = node.child_by_field_name('right')


def _list_pattern_names(target: Node | None, source: bytes) -> Iterator[str]:
    if target is None:
        return
    if target.type == 'identifier':
        yield source[target.start_byte : target.end_byte].decode(errors='replace')
    elif target.type in _PATTERNS:
        for child in target.named_children:
            yield from _list_pattern_names(child, source)
