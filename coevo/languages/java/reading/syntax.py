"""Parse Java declarations with tree-sitter: types and members with spans, hashes and names.

Hashes cover tokens, so comments and formatting never matter. Members of local and anonymous classes
belong to the body of the enclosing method.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from tree_sitter import Node, Parser

from coevo.languages.declarations import DeclaredType, Import, Member, SourceFile
from coevo.languages.java.reading.tokens import (
    JAVA,
    JavaSlice,
    JavaTokens,
    erase_type_name,
    is_shareable,
)
from coevo.languages.spans import (
    Span,
    begins_line,
    find_code_end,
    is_nested_too_deep,
    subtract_holes,
)
from coevo.model.records import compute_short_hash

_KINDS = {
    'class_declaration': 'class',
    'interface_declaration': 'interface',
    'enum_declaration': 'enum',
    'record_declaration': 'record',
    'annotation_type_declaration': 'annotation',
}
_MEMBERS = {
    'method_declaration': 'method',
    'annotation_type_element_declaration': 'method',
    'constructor_declaration': 'constructor',
    'compact_constructor_declaration': 'constructor',
    'field_declaration': 'field',
    'constant_declaration': 'field',
    'static_initializer': 'initializer',
    'block': 'initializer',
}
# Nodes between a type and its members; an ERROR node may still contain usable members.
_WRAPPERS = frozenset({'enum_body_declarations', 'ERROR'})
# The longest handwritten files have a few hundred kilobytes; generated parsers reach several
# megabytes.
MOST_BYTES = 4 << 20
MOST_NESTED = 50
# A field declaration with many names repeats all of its tokens for each name.
MOST_TOKENS = 4_000_000
_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)


class _JavaTooComplex(ValueError):
    pass


def parse(source: bytes, path: str = '') -> SourceFile:
    """Return the declarations of a Java file, cached; see `parse_uncached`.

    `path` is ignored, because the source itself declares its package.
    """
    return _parse_cached(source)


@lru_cache(maxsize=2048)
def _parse_cached(source: bytes) -> SourceFile:
    return parse_uncached(source)


def parse_uncached(source: bytes) -> SourceFile:
    """Return the declarations of a Java file; with syntax errors, those that can be read.

    A file that exceeds a limit is returned without declarations, as `unreadable`. The limits count
    bytes, nested types, nested brackets and tokens, not time, so that the result is the same on
    slow and fast machines.
    """
    try:
        return _parse_declarations(source)
    except _JavaTooComplex:
        return SourceFile(
            package='',
            imports=(),
            types=(),
            has_error=True,
            hash=hashlib.sha256(source).hexdigest()[:16],
            names=frozenset(),
            unreadable=True,
        )


def _parse_declarations(source: bytes) -> SourceFile:
    if len(source) > MOST_BYTES:
        raise _JavaTooComplex
    root = Parser(JAVA).parse(source).root_node
    tokens = JavaTokens(root, source)
    if is_nested_too_deep(tokens.texts):
        raise _JavaTooComplex
    imports = tuple(
        _parse_import(node, source) for node in root.children if node.type == 'import_declaration'
    )
    package = next((n for n in root.children if n.type == 'package_declaration'), None)
    reader = _JavaSyntaxReader(
        source, tokens, _get_package_name(package, source), shares=not root.has_error
    )
    rest = tokens.slice_spans(
        subtract_holes((0, len(source)), [(item.start_byte, item.end_byte) for item in imports])
    )
    lines = sorted(' '.join(map(str, (i.static, i.text, i.name))) for i in imports)
    return SourceFile(
        package=reader.package,
        imports=imports,
        types=tuple(reader.parse_types(root, (), {})),
        has_error=root.has_error,
        hash=compute_short_hash(*lines, *rest.texts),
        names=rest.names,
    )


def _get_package_name(node: Node | None, source: bytes) -> str:
    names = [] if node is None else [c for c in node.children if c.type.endswith('identifier')]
    return _get_text(names[-1], source) if names else ''


def _parse_import(node: Node, source: bytes) -> Import:
    name = next((c for c in node.children if c.type.endswith('identifier')), None)
    text = re.sub(r'\s+', '', _get_text(name, source)) if name else ''
    kinds = {child.type for child in node.children}
    return Import(
        text=text,
        name='*' if 'asterisk' in kinds else text.rpartition('.')[2],
        static='static' in kinds,
        start_byte=node.start_byte,
        end_byte=node.end_byte,
    )


@dataclass(slots=True)
class _CachedJavaMembers:
    members: tuple[Member, ...] | None = None


@lru_cache(maxsize=1 << 14)
def _get_members_cache_entry(
    kind: str, text: bytes, owner: str, simple: str, variables: tuple[tuple[str, str], ...]
) -> _CachedJavaMembers:
    """Return the cache entry for the members of a node; the caller fills it if it is new.

    The arguments determine the members except for their positions.
    """
    return _CachedJavaMembers()


class _JavaSyntaxReader:
    def __init__(self, source: bytes, tokens: JavaTokens, package: str, *, shares: bool) -> None:
        self.shares = shares
        self.source = source
        self.tokens = tokens
        self.package = package
        self._comments = {end: start for start, end in tokens.comments}
        self._read = 0  # tokens of all members read so far, counted once for each declared name

    def get_text(self, node: Node) -> str:
        """Return the source text of a node."""
        return _get_text(node, self.source)

    def parse_types(
        self, parent: Node, around: tuple[str, ...], variables: dict[str, str]
    ) -> Iterator[DeclaredType]:
        """Yield the types declared in a node, each followed by its nested types."""
        if len(around) > MOST_NESTED:
            raise _JavaTooComplex
        for node in _iterate_declarations(parent):
            if node.type in _KINDS and (name := node.child_by_field_name('name')) is not None:
                simple = self.get_text(name)
                known = variables | self._find_type_variables(node)
                yield self._parse_type(node, around, simple, known)
                if (body := node.child_by_field_name('body')) is not None:
                    yield from self.parse_types(body, (*around, simple), known)

    def _parse_type(
        self, node: Node, around: tuple[str, ...], simple: str, variables: dict[str, str]
    ) -> DeclaredType:
        name = (self.package and f'{self.package}.') + '$'.join((*around, simple))
        body = node.child_by_field_name('body')
        declared = list(_iterate_declarations(body)) if body is not None else []
        members = [
            m for child in declared for m in self._list_members(child, name, simple, variables)
        ]
        nested = [_get_span(n) for n in declared if n.type in _KINDS]
        bodies = [
            _get_span(n) for n in declared if _MEMBERS.get(n.type) in ('method', 'constructor')
        ]
        all_members = [_get_span(n) for n in declared if n.type in _MEMBERS]
        header = self.tokens.slice_spans(subtract_holes(_get_span(node), nested + bodies))
        shape = self.tokens.slice_spans(subtract_holes(_get_span(node), nested + all_members))
        modifiers = _list_modifiers(node)
        superclass, interfaces = self._find_superclass_and_interface_names(node)
        return DeclaredType(
            name=name,
            simple=simple,
            around=around,
            kind=_KINDS[node.type],
            superclass=superclass,
            interfaces=interfaces,
            abstract='abstract' in modifiers or node.type == 'interface_declaration',
            modifiers=modifiers,
            annotations=self._list_annotation_names(node),
            declaration=self._format_declaration(node, body.start_byte if body else node.end_byte),
            header_hash=compute_short_hash(*header.texts),
            shape_hash=compute_short_hash(*shape.replace_own_names(simple, simple)),
            names=shape.names - {simple},
            calls=shape.calls,
            strings=shape.strings,
            members=tuple(members),
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
        )

    def _list_members(
        self, node: Node, owner: str, simple: str, variables: dict[str, str]
    ) -> Iterator[Member]:
        kind = _MEMBERS.get(node.type)
        if kind is None:
            return
        known = variables | self._find_type_variables(node)
        if not (self.shares and is_shareable(node, node.type)):
            yield from self._parse_members(node, kind, owner, simple, known)
            return
        text = self.source[node.start_byte : node.end_byte]
        cached = _get_members_cache_entry(node.type, text, owner, simple, tuple(known.items()))
        if cached.members is None:
            cached.members = tuple(self._parse_members(node, kind, owner, simple, known))
            yield from cached.members
            return
        for member in cached.members:
            self._count_against_token_limit(len(member.tokens))
            yield self._relocate_member(member, node)

    def _parse_members(
        self, node: Node, kind: str, owner: str, simple: str, known: dict[str, str]
    ) -> Iterator[Member]:
        node_tokens = self.tokens.slice_spans([_get_span(node)])
        for name, declaration in self._list_names_and_declarations(node, kind):
            self._count_against_token_limit(len(node_tokens.texts))
            yield self._build_member(
                node, kind, name, declaration, owner, simple, node_tokens, known
            )

    def _count_against_token_limit(self, tokens: int) -> None:
        self._read += tokens
        if self._read > MOST_TOKENS:
            raise _JavaTooComplex

    def _relocate_member(self, member: Member, node: Node) -> Member:
        """Return a copy of a cached member of the same text with the positions of this node."""
        return replace(
            member,
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=self._find_start_with_comment(node),
        )

    def _build_member(
        self,
        node: Node,
        kind: str,
        name: str,
        declaration: str,
        owner: str,
        simple: str,
        found: JavaSlice,
        variables: dict[str, str],
    ) -> Member:
        return Member(
            kind=kind,
            name=name,
            owner=owner,
            parameters=self._list_erased_parameter_types(node, variables),
            modifiers=_list_modifiers(node)
            | ({'static'} if node.type == 'static_initializer' else set()),
            annotations=self._list_annotation_names(node),
            declaration=declaration,
            source=self.get_text(node),
            start_byte=node.start_byte,
            end_byte=node.end_byte,
            start_line=node.start_point.row + 1,
            end_line=node.end_point.row + 1,
            full_start_byte=self._find_start_with_comment(node),
            hash=compute_short_hash(*found.texts),
            bare_hash=compute_short_hash(*found.replace_own_names(name, simple)),
            body_hash=self._hash_body(node, name, simple),
            body_at=self._find_body_offset_in_text(node),
            calls=found.calls,
            types=found.types,
            names=found.names,
            strings=found.strings,
            tokens=found.texts,
        )

    def _find_start_of_comment_before(self, at: int) -> int | None:
        """Return the start of the comment before `at` if only white space lies between.

        Returns None otherwise.
        """
        end = find_code_end(self.source, at)  # a line comment's node includes a carriage return
        return self._comments.get(end, self._comments.get(end + 1))

    def _find_start_with_comment(self, node: Node) -> int:
        """Return where a member starts together with the comments directly above it.

        Only comments that begin their own lines count; a blank line ends them.
        """
        start, source = node.start_byte, self.source
        while (begin := self._find_start_of_comment_before(start)) is not None:
            end = find_code_end(source, start)
            if source.count(b'\n', end, start) > 1 or not begins_line(source, begin):
                break
            start = begin
        return start

    def _hash_body(self, node: Node, name: str, simple: str) -> str | None:
        body = node.child_by_field_name('body')
        if body is None:
            return None
        return compute_short_hash(
            'body', *self.tokens.slice_spans([_get_span(body)]).replace_own_names(name, simple)
        )

    def _find_body_offset_in_text(self, node: Node) -> int | None:
        body = node.child_by_field_name('body')
        if body is None:
            return None
        return len(self.source[node.start_byte : body.start_byte].decode(errors='replace'))

    def _list_names_and_declarations(self, node: Node, kind: str) -> Iterator[tuple[str, str]]:
        """Yield (name, declaration) for each member that a node declares."""
        if kind == 'initializer':
            static = node.type == 'static_initializer'
            yield ('<clinit>', 'static {…}') if static else ('<init>', '{…}')
        elif kind == 'field':
            for declarator in node.children_by_field_name('declarator'):
                if (name := declarator.child_by_field_name('name')) is not None:
                    type_ = node.child_by_field_name('type')
                    start = self._format_declaration(node, (type_ or name).end_byte)
                    yield self.get_text(name), f'{start} {self.get_text(name)}'
        elif (name := node.child_by_field_name('name')) is not None:
            parameters = ', '.join(map(self._format_parameter, _list_parameter_nodes(node)))
            yield (
                self.get_text(name),
                f'{self._format_declaration(node, name.end_byte)}({parameters})',
            )

    def _format_parameter(self, parameter: Node) -> str:
        return self._format_declaration(parameter, parameter.end_byte).removeprefix('final ')

    def _format_declaration(self, node: Node, end: int) -> str:
        """Return a node's text up to `end` on one line, without annotations and comments."""
        start, pieces = node.start_byte, []
        for child in _list_modifier_nodes(node):
            if child.type.endswith('annotation'):
                pieces.append(self.source[start : child.start_byte])
                start = child.end_byte
        pieces.append(self.source[start:end])
        text = b' '.join(pieces).decode(errors='replace')
        return ' '.join(_COMMENT.sub(' ', text).split())

    def _list_annotation_names(self, node: Node) -> tuple[str, ...]:
        nodes = [n for n in _list_modifier_nodes(node) if n.type.endswith('annotation')]
        names = [n.child_by_field_name('name') for n in nodes]
        return tuple(erase_type_name(self.get_text(name)) for name in names if name is not None)

    def _find_superclass_and_interface_names(
        self, node: Node
    ) -> tuple[str | None, tuple[str, ...]]:
        superclass, interfaces = None, []
        for child in node.children:
            if child.type == 'superclass':
                superclass = self._erase_type(child.children[-1])
            elif child.type in ('super_interfaces', 'extends_interfaces'):
                for types in (c for c in child.children if c.type == 'type_list'):
                    interfaces += [self._erase_type(c) for c in types.named_children]
        return superclass, tuple(interfaces)

    def _find_type_variables(self, node: Node) -> dict[str, str]:
        """Return the type variables that a node declares, each with the simple name of its bound.

        The bound is `Object` if none is written.
        """
        parameters = node.child_by_field_name('type_parameters')
        bounds_by_name: dict[str, str] = {}
        for parameter in parameters.named_children if parameters is not None else ():
            names = [c for c in parameter.children if c.type.endswith('identifier')]
            bounds = [c for c in parameter.children if c.type == 'type_bound']
            if names:
                bound = self._erase_type(bounds[0].named_children[0]) if bounds else 'Object'
                bounds_by_name[self.get_text(names[-1])] = bounds_by_name.get(bound, bound)
        return bounds_by_name

    def _list_erased_parameter_types(
        self, node: Node, variables: dict[str, str]
    ) -> tuple[str, ...]:
        erased = []
        for parameter in _list_parameter_nodes(node):
            types = [
                child
                for child in parameter.named_children
                if child.type.endswith(('_type', 'type_identifier'))
            ]
            name = self._erase_type(types[0]) if types else ''
            element = name.rstrip('[]')
            brackets = name[len(element) :] + ('[]' if parameter.type == 'spread_parameter' else '')
            dimensions = parameter.child_by_field_name('dimensions')
            brackets += '[]' * (
                self.get_text(dimensions).count('[') if dimensions is not None else 0
            )
            erased.append(variables.get(element, element) + brackets)
        return tuple(erased)

    def _erase_type(self, node: Node) -> str:
        if node.type == 'array_type':
            element = node.child_by_field_name('element')
            dimensions = node.child_by_field_name('dimensions')
            if element is not None and dimensions is not None:
                return self._erase_type(element) + '[]' * self.get_text(dimensions).count('[')
        if node.type == 'annotated_type':
            return self._erase_type(node.children[-1])
        return erase_type_name(self.get_text(node))


def _get_text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode(errors='replace')


def _get_span(node: Node) -> Span:
    return node.start_byte, node.end_byte


def _iterate_declarations(parent: Node) -> Iterator[Node]:
    for child in parent.children:
        if child.type in _WRAPPERS:
            yield from _iterate_declarations(child)
        else:
            yield child


def _list_modifier_nodes(node: Node) -> list[Node]:
    modifiers = [child for child in node.children if child.type == 'modifiers']
    return modifiers[0].children if modifiers else []


def _list_modifiers(node: Node) -> frozenset[str]:
    return frozenset(n.type for n in _list_modifier_nodes(node) if not n.is_named)


def _list_parameter_nodes(node: Node) -> list[Node]:
    """Return the formal parameters; for a compact constructor, the components of the record."""
    holder = node
    if node.type == 'compact_constructor_declaration':
        while holder.parent is not None and holder.type != 'record_declaration':
            holder = holder.parent
    parameters = holder.child_by_field_name('parameters')
    kinds = ('formal_parameter', 'spread_parameter')
    return [c for c in parameters.children if c.type in kinds] if parameters is not None else []
