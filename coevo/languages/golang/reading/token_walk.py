"""Reads the tokens of a Go file: what matters to the compiler, with the role of each identifier.

Comments, line breaks and the order of imports do not count. Directives, build constraints and the
output of an example are tokens, and so is the end of a statement, however it is written. The comma
before a closing bracket and the brackets around a whole condition are left out, as gofmt does.

`LocalScopes` decides where a local name refers to a declaration of its function
(https://go.dev/ref/spec#Declarations_and_scope).
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import tree_sitter_go
from tree_sitter import Language, Node, TreeCursor

from coevo.languages.golang.reading.tokens import (
    END,
    MAY_BE_LOCAL,
    GoToken,
    GoTokenRole,
    GoTokenSlice,
)
from coevo.languages.grammars import list_fixed_node_kinds
from coevo.languages.spans import Span

GO = Language(tree_sitter_go.language())
_FIXED = list_fixed_node_kinds(GO)
# https://go.dev/src/go/doc/example.go, exampleOutput
OUTPUT = re.compile(r'\s*(unordered )?output:', re.IGNORECASE)
# https://pkg.go.dev/cmd/compile#hdr-Compiler_Directives, https://pkg.go.dev/cmd/go#hdr-Build_constraints
# Others, such as `//nolint:all`, are for other tools: no build and no test reads them.
_DIRECTIVE = re.compile(rb'//(?:go:[a-z0-9]|export |line )|//\s*\+build\s')
# https://go.dev/src/go/ast/ast.go, isDirective: what the text of a comment does not contain.
_TOOL_DIRECTIVE = re.compile(rb'//(?:[a-z0-9]+:[a-z0-9]|(?:line|extern|export) )')
_LITERALS = frozenset(
    {'interpreted_string_literal', 'raw_string_literal', 'rune_literal', 'int_literal'}
    | {'float_literal', 'imaginary_literal'}
)
# Nodes that contain statements, fields or specs, one on each line.
_LISTS = frozenset(
    {'statement_list', 'field_declaration_list', 'interface_type', 'var_spec_list'}
    | {'const_declaration', 'type_declaration', 'import_spec_list', 'source_file', 'block'}
)
_CONDITIONS = frozenset(
    {('if_statement', 'condition'), ('for_statement', None), ('for_clause', 'condition')}
    | {('expression_switch_statement', 'value')}
)
# The kinds of nodes around a comment that is directly in the body of a function.
_CLOSING = frozenset({')', ']', '}'})
# tree-sitter reads a call of a generic function with type arguments as a conversion.
_MAKING = frozenset({'composite_literal', 'type_conversion_expression'})


# The longest declaration in bytes that is cached for neighbouring revisions of the file.
_LONGEST = 1 << 15


@dataclass(slots=True)
class _Frame:
    """A node on the path from the root, with its field in the parent."""

    node: Node
    kind: str
    field: str | None


@dataclass(slots=True)
class _GoLeaves:
    """The tokens of a top-level declaration, the start of each, and the spans of its comments.

    All offsets are counted from the start of the declaration.
    """

    tokens: list[GoToken] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)


class GoTokenIndex:
    """All tokens of a file, from which those within some spans can be taken.

    Each top-level node is read by itself, and cached for other files that contain it, too.

    comments  the spans of the comments, in order
    count     the number of tokens
    """

    def __init__(self, root: Node, source: bytes) -> None:
        self._parts = [
            (node.start_byte, _parse_leaves(root, node, source)) for node in root.children
        ]
        self._starts = [start for start, _ in self._parts]
        self.comments = [
            (at + start, at + end) for at, leaves in self._parts for start, end in leaves.comments
        ]
        self.count = sum(len(leaves.tokens) for _, leaves in self._parts)

    def __iter__(self) -> Iterator[tuple[int, GoToken]]:
        """Yield each token with its start in the file."""
        for at, leaves in self._parts:
            yield from ((at + token.start, token) for token in leaves.tokens)

    def slice_spans(self, spans: Iterable[Span]) -> GoTokenSlice:
        """Return the tokens that begin within some spans, in the order of the spans."""
        tokens: list[GoToken] = []
        for start, end in spans:
            first = max(bisect_left(self._starts, start) - 1, 0)
            for at, leaves in self._parts[first : bisect_left(self._starts, end)]:
                begin = bisect_left(leaves.starts, start - at)
                tokens += leaves.tokens[begin : bisect_left(leaves.starts, end - at)]
        return GoTokenSlice(tuple(tokens))


def _parse_leaves(root: Node, node: Node, source: bytes) -> _GoLeaves:
    if root.has_error or node.end_byte - node.start_byte > _LONGEST:
        return _GoTokenWalk(root, node, source).leaves
    known = _get_leaves_cache(source[node.start_byte : node.end_byte])
    if not known.leaves:
        known.leaves.append(_GoTokenWalk(root, node, source).leaves)
    return known.leaves[0]


@dataclass(frozen=True, slots=True)
class _LeavesCache:
    leaves: list[_GoLeaves] = field(default_factory=list)


@lru_cache(maxsize=1 << 14)
def _get_leaves_cache(text: bytes) -> _LeavesCache:
    """Return the cache for the tokens of a declaration with this text, empty at first."""
    return _LeavesCache()


def _find_output_comments(declaration: Node, source: bytes) -> frozenset[int]:
    """Return the starts of the comments that declare the output of an example; else none.

    They are the last group of comments in its body, at any depth, if it begins with `Output:`
    behind directives. Comments are a group if only the end of a line is between them. A comment
    behind code is no part of a group that begins in the next line.
    """
    name, body = (declaration.child_by_field_name(field) for field in ('name', 'body'))
    is_function = declaration.type == 'function_declaration'
    if not is_function or name is None or body is None or not name.text:
        return frozenset()
    if not name.text.startswith(b'Example'):
        return frozenset()
    group: list[Node] = []
    most_lines = 0
    for comment in _list_comments(body):
        last = group[-1] if group else None
        if (
            last is None
            or source[last.end_byte : comment.start_byte].strip()
            or comment.start_point.row - last.end_point.row > most_lines
        ):
            group = []
            line_start = source.rfind(b'\n', 0, comment.start_byte) + 1
            most_lines = 0 if source[line_start : comment.start_byte].strip() else 1
        group.append(comment)
    texts = [source[each.start_byte : each.end_byte] for each in group]
    first = next((text for text in texts if not _TOOL_DIRECTIVE.match(text)), b'')
    if OUTPUT.match(_strip_comment(first.decode(errors='replace'))) is None:
        return frozenset()
    return frozenset(each.start_byte for each in group)


def _list_comments(node: Node) -> Iterator[Node]:
    """Yield the comments inside a node, in the order of the text."""
    waiting = [node]
    while waiting:
        below = waiting.pop()
        if below.type == 'comment':
            yield below
        waiting += reversed(below.children)


class _GoTokenWalk:
    """A walk through one top-level declaration or comment of a file, which collects its tokens."""

    def __init__(self, root: Node, node: Node, source: bytes) -> None:
        self._source = source
        self._base = node.start_byte
        self._output_comments = _find_output_comments(node, source)
        self.leaves = _GoLeaves()
        self._stack = [_Frame(root, root.type, None)]
        self._scopes = LocalScopes()
        self._walk_nodes(node.walk())
        self.leaves.tokens = [self._mark_if_local(token) for token in self.leaves.tokens]
        self.leaves.starts = [token.start for token in self.leaves.tokens]

    def _walk_nodes(self, cursor: TreeCursor) -> None:
        stack = self._stack
        while True:
            node = cursor.node
            assert node is not None
            frame = _Frame(node, node.type, cursor.field_name)
            if not self._read_if_atomic(frame) and cursor.goto_first_child():
                stack.append(frame)
                continue
            self._append_end_after_statement(frame)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                self._append_end_after_statement(stack.pop())

    def _read_if_atomic(self, frame: _Frame) -> bool:
        """Read a node that is read as a whole, and return True; return False for any other node.

        Comments, literals, keywords, signs and words are read as a whole.
        """
        node, kind = frame.node, frame.kind
        if kind == 'comment':
            self._add_comment(node)
        elif node.end_byte == node.start_byte:
            pass
        elif kind in _LITERALS:
            self._add_literal(node, kind)
        elif kind in _FIXED:
            if kind.strip() and not self._is_redundant(frame):
                self._append_token(node.start_byte, kind)
        elif node.child_count == 0:
            self._add_word(frame)
        else:
            return False
        return True

    def _add_word(self, frame: _Frame) -> None:
        text, node = self._read_text(frame.node), frame.node
        role = self._find_role(frame) if text != '_' else None
        self._append_token(node.start_byte, text, role)
        if role is GoTokenRole.BOUND:
            ends = [(outer.kind, outer.node.end_byte - self._base) for outer in self._stack]
            self._scopes.bind_name(text, node.end_byte - self._base, ends)

    def _mark_if_local(self, token: GoToken) -> GoToken:
        known = token.role in MAY_BE_LOCAL and self._scopes.is_local(token.text, token.start)
        return replace(token, role=GoTokenRole.LOCAL) if known else token

    def _add_comment(self, node: Node) -> None:
        span = (node.start_byte - self._base, node.end_byte - self._base)
        self.leaves.comments.append(span)
        text = self._read_text(node)
        if _DIRECTIVE.match(text.encode(errors='replace')):
            self._append_token(node.start_byte, ' '.join(text.split()))
        elif node.start_byte in self._output_comments:
            self._append_token(node.start_byte, '// ' + _strip_comment(text))

    def _add_literal(self, node: Node, kind: str) -> None:
        text, string = self._read_text(node), None
        if kind.endswith('string_literal'):
            string = text[1:-1].replace('\r', '')
            text = text.replace('\r', '')
        elif kind != 'rune_literal':
            text = text.lower()
        self._append_token(node.start_byte, text, None, string)

    def _append_token(
        self, start: int, text: str, role: GoTokenRole | None = None, string: str | None = None
    ) -> None:
        self.leaves.tokens.append(GoToken(start - self._base, sys.intern(text), role, string))

    def _is_redundant(self, frame: _Frame) -> bool:
        parent = self._stack[-1] if self._stack else None
        if parent is None:
            return False
        if frame.kind == END:
            return parent.kind in _LISTS or parent.kind.endswith('_case')
        if frame.kind == ',':
            following = frame.node.next_sibling
            while following is not None and following.type == 'comment':
                following = following.next_sibling
            return following is not None and following.type in _CLOSING
        if frame.kind in ('(', ')') and parent.kind == 'parenthesized_expression':
            above = self._stack[-2].kind if len(self._stack) > 1 else ''
            return (above, parent.field) in _CONDITIONS
        return False

    def _append_end_after_statement(self, frame: _Frame) -> None:
        parent = self._stack[-1].kind if self._stack else ''
        listed = parent in _LISTS and frame.node.is_named and frame.kind != 'comment'
        if listed and parent not in ('source_file', 'block') and frame.kind != 'empty_statement':
            self._append_token(max(frame.node.end_byte - 1, frame.node.start_byte), END)

    def _find_role(self, frame: _Frame) -> GoTokenRole | None:
        kind, field, parent = frame.kind, frame.field, self._stack[-1]
        if kind == 'package_identifier':
            return GoTokenRole.PACKAGE if parent.kind != 'package_clause' else None
        if kind == 'type_identifier':
            if field == 'name' and parent.kind in ('type_spec', 'type_alias'):
                return self._find_declared_role()
            return self._find_type_role()
        if kind == 'field_identifier':
            if parent.kind != 'selector_expression':
                return GoTokenRole.DEFINED
            return GoTokenRole.CALLED if parent.field == 'function' else GoTokenRole.ATTRIBUTE
        if kind != 'identifier':
            return None
        return self._find_identifier_role(field, parent)

    def _find_type_role(self) -> GoTokenRole:
        """Return CREATED for the name of a type of which a value is made (`T{}`), else TYPE."""
        for frame in reversed(self._stack):
            if frame.kind not in ('generic_type', 'qualified_type'):
                return GoTokenRole.CREATED if frame.kind in _MAKING else GoTokenRole.TYPE
        return GoTokenRole.TYPE

    def _find_identifier_role(self, field: str | None, parent: _Frame) -> GoTokenRole:
        if parent.kind == 'function_declaration':
            return GoTokenRole.DEFINED
        if parent.kind in ('var_spec', 'const_spec') and field == 'name':
            return self._find_declared_role()
        if parent.kind.endswith('parameter_declaration') and field == 'name':
            return GoTokenRole.BOUND
        if parent.kind == 'call_expression' and field == 'function':
            return GoTokenRole.CALLED
        if parent.kind == 'selector_expression' and field == 'operand':
            return GoTokenRole.OPERAND
        if parent.kind == 'literal_element' and parent.field == 'key':
            return GoTokenRole.KEY
        return GoTokenRole.BOUND if self._declares_names(parent) else GoTokenRole.LOADED

    def _declares_names(self, parent: _Frame) -> bool:
        """Return whether a name in a list of expressions is declared there: it is left of `:=`.

        So is the alias in the head of a type switch.

        parent  the node of the list
        """
        if parent.kind != 'expression_list' or len(self._stack) < 2:
            return False
        above = self._stack[-2]
        if parent.field == 'alias':
            return True
        return parent.field == 'left' and any(c.type == ':=' for c in above.node.children)

    def _find_declared_role(self) -> GoTokenRole:
        local = any(frame.kind == 'block' for frame in self._stack)
        return GoTokenRole.BOUND if local else GoTokenRole.DEFINED

    def _read_text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors='replace')


def _strip_comment(comment: str) -> str:
    """Return the text of a comment without its marks, and without white space around its lines."""
    text = comment[2:].removesuffix('*/') if comment.startswith('/*') else comment[2:]
    return '\n'.join(line.strip() for line in text.strip().split('\n'))


_FUNCTIONS = frozenset({'function_declaration', 'method_declaration', 'func_literal'})
_BLOCKS = _FUNCTIONS | {
    *('block', 'if_statement', 'for_statement', 'expression_switch_statement'),
    *('type_switch_statement', 'select_statement', 'expression_case', 'type_case'),
    *('communication_case', 'default_case'),
}
# The scope of a type's parameters. The scope of the type's own name is the block around it.
_PARAMETRIC = frozenset({'type_spec', 'type_alias'})
# A name in one of these is visible only behind it: its value cannot refer to it.
_STATEMENTS = frozenset(
    {'short_var_declaration', 'range_clause', 'receive_statement', 'var_spec', 'const_spec'}
)


# Names of parameters in these have no effect.
_TYPES = frozenset({'function_type', 'method_elem'})


class LocalScopes:
    """The local names of one declaration, with the spans in which each is visible.

    All names must be bound before `is_local` is called.
    """

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}
        self._merged: dict[str, tuple[list[int], list[int]]] = {}

    def bind_name(self, name: str, end: int, around: Sequence[tuple[str, int]]) -> None:
        """Record that a local name is visible from its declaration to the end of its block.

        The name of a parameter in a mere function type has no effect.

        end     where the declared name ends; in a statement, the name is visible only behind it
        around  the kinds and ends of the nodes that contain it, the outermost first
        """
        start = end
        own = around[-1][0] if around else ''
        for kind, last in reversed(around):
            if kind in _TYPES:
                return
            if kind in _STATEMENTS:
                start = max(start, last)
            if kind in _BLOCKS or (kind in _PARAMETRIC and kind != own):
                self._spans.setdefault(name, []).append((start, last))
                return

    def is_local(self, name: str, at: int) -> bool:
        """Return whether a name at an offset refers to a local declaration that was bound."""
        if name not in self._spans:
            return False
        if name not in self._merged:
            self._merged[name] = _merge_spans(self._spans[name])
        starts, ends = self._merged[name]
        index = bisect_right(starts, at) - 1
        return index >= 0 and at < ends[index]


def _merge_spans(spans: list[Span]) -> tuple[list[int], list[int]]:
    """Return starts and ends of disjoint spans that together cover the same offsets."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends
