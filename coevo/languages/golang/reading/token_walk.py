"""The tokens of a Go file: what the compiler is told, and what each identifier is where it stands.

Comments, line breaks and the order of imports say nothing, but for directives, build constraints and the
output of an example, which are tokens. So is the end of a statement, however it is written. Left out
are the comma before a closing bracket and the brackets around a whole condition, as gofmt has it.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import lru_cache

import tree_sitter_go
from tree_sitter import Language
from tree_sitter import Node
from tree_sitter import TreeCursor

from coevo.languages.golang.reading.scopes import Scopes
from coevo.languages.golang.reading.tokens import END
from coevo.languages.golang.reading.tokens import MAY_BE_LOCAL
from coevo.languages.golang.reading.tokens import GoSlice
from coevo.languages.golang.reading.tokens import GoToken
from coevo.languages.golang.reading.tokens import Role
from coevo.languages.grammars import fixed_kinds
from coevo.languages.spans import Span

GO = Language(tree_sitter_go.language())
_FIXED = fixed_kinds(GO)
# https://go.dev/src/go/doc/example.go, exampleOutput
OUTPUT = re.compile(r'\s*(unordered )?output:', re.IGNORECASE)
# https://pkg.go.dev/cmd/compile#hdr-Compiler_Directives, https://pkg.go.dev/cmd/go#hdr-Build_constraints
_DIRECTIVE = re.compile(rb'//(?:[a-z0-9]+:[a-z0-9]|export |line )|//\s*\+build\s')
_LITERALS = frozenset(
    {'interpreted_string_literal', 'raw_string_literal', 'rune_literal', 'int_literal'}
    | {'float_literal', 'imaginary_literal'}
)
# What holds statements, fields or specs, one on a line.
_LISTS = frozenset(
    {'statement_list', 'field_declaration_list', 'interface_type', 'var_spec_list'}
    | {'const_declaration', 'type_declaration', 'import_spec_list', 'source_file', 'block'}
)
_CONDITIONS = frozenset(
    {('if_statement', 'condition'), ('for_statement', None), ('for_clause', 'condition')}
    | {('expression_switch_statement', 'value')}
)
# Where a comment stands in a body and in nothing else.
_IN_BODY: tuple[list[str], ...] = ([], ['statement_list'])
_CLOSING = frozenset({')', ']', '}'})
# A call of a generic function with its types is written as a conversion.
_MAKING = frozenset({'composite_literal', 'type_conversion_expression'})


# What is kept of a declaration that neighbouring revisions of a file share: the longest, in bytes.
_LONGEST = 1 << 15


@dataclass(slots=True)
class _Frame:
    """A node on the way from the root, and the field of its parent that it is."""

    node: Node
    kind: str
    field: str | None


@dataclass(slots=True)
class _Leaves:
    """What a declaration has, by offsets in it: its tokens, where they begin, and comments."""

    tokens: list[GoToken] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)


class GoTokens:
    """All tokens of a file; `within` gives those that begin in some bytes.

    `comments` are the spans of comments in their order. What stands at the top of the file is read by
    itself, and only where it was in no other file.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        self._parts = [(node.start_byte, _leaves(root, node, source)) for node in root.children]
        self._starts = [start for start, _ in self._parts]
        self.comments = [
            (at + start, at + end) for at, leaves in self._parts for start, end in leaves.comments
        ]
        self.count = sum(len(leaves.tokens) for _, leaves in self._parts)

    def __iter__(self) -> Iterator[tuple[int, GoToken]]:
        """Each with where it begins in the file."""
        for at, leaves in self._parts:
            yield from ((at + token.start, token) for token in leaves.tokens)

    def within(self, spans: Iterable[Span]) -> GoSlice:
        found: list[GoToken] = []
        for start, end in spans:
            first = max(bisect_left(self._starts, start) - 1, 0)
            for at, leaves in self._parts[first : bisect_left(self._starts, end)]:
                begin = bisect_left(leaves.starts, start - at)
                found += leaves.tokens[begin : bisect_left(leaves.starts, end - at)]
        return GoSlice(tuple(found))


def _leaves(root: Node, node: Node, source: bytes) -> _Leaves:
    if root.has_error or node.end_byte - node.start_byte > _LONGEST:
        return _Walk(root, node, source).leaves
    known = _kept(source[node.start_byte : node.end_byte])
    if not known.leaves:
        known.leaves.append(_Walk(root, node, source).leaves)
    return known.leaves[0]


@dataclass(frozen=True, slots=True)
class _Kept:
    leaves: list[_Leaves] = field(default_factory=list)


@lru_cache(maxsize=1 << 14)
def _kept(text: bytes) -> _Kept:
    """Where to keep the tokens of a declaration."""
    return _Kept()


class _Walk:
    """One pass through a declaration, or a comment, at the top of a file."""

    def __init__(self, root: Node, node: Node, source: bytes) -> None:
        self._source = source
        self._base = node.start_byte
        self.leaves = _Leaves()
        self._stack = [_Frame(root, root.type, None)]
        self._scopes = Scopes()
        self._read(node.walk())
        self.leaves.tokens = [self._as_local(token) for token in self.leaves.tokens]
        self.leaves.starts = [token.start for token in self.leaves.tokens]

    def _read(self, cursor: TreeCursor) -> None:
        stack = self._stack
        while True:
            node = cursor.node
            assert node is not None
            frame = _Frame(node, node.type, cursor.field_name)
            if not self._is_atom(frame) and cursor.goto_first_child():
                stack.append(frame)
                continue
            self._leave(frame)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                self._leave(stack.pop())

    def _is_atom(self, frame: _Frame) -> bool:
        """Whether a node is read as a whole, which is then done."""
        node, kind = frame.node, frame.kind
        if kind == 'comment':
            self._add_comment(node)
        elif node.end_byte == node.start_byte:
            pass
        elif kind in _LITERALS:
            self._add_literal(node, kind)
        elif kind in _FIXED:
            if kind.strip() and not self._says_nothing(frame):
                self._append(node.start_byte, kind)
        elif node.child_count == 0:
            self._add_word(frame)
        else:
            return False
        return True

    def _add_word(self, frame: _Frame) -> None:
        text, node = self._text(frame.node), frame.node
        role = self._role(frame) if text != '_' else None
        self._append(node.start_byte, text, role)
        if role is Role.BOUND:
            ends = [(one.kind, one.node.end_byte - self._base) for one in self._stack]
            self._scopes.bind(text, node.end_byte - self._base, ends)

    def _as_local(self, token: GoToken) -> GoToken:
        known = token.role in MAY_BE_LOCAL and self._scopes.holds(token.text, token.start)
        return replace(token, role=Role.LOCAL) if known else token

    def _add_comment(self, node: Node) -> None:
        span = (node.start_byte - self._base, node.end_byte - self._base)
        self.leaves.comments.append(span)
        text = self._text(node)
        if _DIRECTIVE.match(text.encode(errors='replace')):
            self._append(node.start_byte, ' '.join(text.split()))
        elif self._is_output(node):
            self._append(node.start_byte, '// ' + _said(text))

    def _is_output(self, node: Node) -> bool:
        """Whether a comment is of the group that tells the output, the last of a function's body."""
        kinds = [frame.kind for frame in self._stack[1:]]
        if kinds[:2] != ['function_declaration', 'block'] or kinds[2:] not in _IN_BODY:
            return False
        above = node
        while (before := above.prev_sibling) is not None and before.type == 'comment':
            if before.end_point.row + 1 < above.start_point.row:
                break
            above = before
        return OUTPUT.match(_said(self._text(above))) is not None

    def _add_literal(self, node: Node, kind: str) -> None:
        text, string = self._text(node), None
        if kind.endswith('string_literal'):
            string = text[1:-1].replace('\r', '')
            text = text.replace('\r', '')
        elif kind != 'rune_literal':
            text = text.lower()
        self._append(node.start_byte, text, None, string)

    def _append(
        self, start: int, text: str, role: Role | None = None, string: str | None = None
    ) -> None:
        self.leaves.tokens.append(GoToken(start - self._base, sys.intern(text), role, string))

    def _says_nothing(self, frame: _Frame) -> bool:
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

    def _leave(self, frame: _Frame) -> None:
        parent = self._stack[-1].kind if self._stack else ''
        listed = parent in _LISTS and frame.node.is_named and frame.kind != 'comment'
        if listed and parent not in ('source_file', 'block') and frame.kind != 'empty_statement':
            self._append(max(frame.node.end_byte - 1, frame.node.start_byte), END)

    def _role(self, frame: _Frame) -> Role | None:
        kind, field, parent = frame.kind, frame.field, self._stack[-1]
        if kind == 'package_identifier':
            return Role.PACKAGE if parent.kind != 'package_clause' else None
        if kind == 'type_identifier':
            if field == 'name' and parent.kind in ('type_spec', 'type_alias'):
                return self._declared()
            return self._type_role()
        if kind == 'field_identifier':
            if parent.kind != 'selector_expression':
                return Role.DEFINED
            return Role.CALLED if parent.field == 'function' else Role.ATTRIBUTE
        if kind != 'identifier':
            return None
        return self._identifier_role(field, parent)

    def _type_role(self) -> Role:
        """Of a type's name: whether the whole type is that of a literal."""
        for frame in reversed(self._stack):
            if frame.kind not in ('generic_type', 'qualified_type'):
                return Role.CREATED if frame.kind in _MAKING else Role.TYPE
        return Role.TYPE

    def _identifier_role(self, field: str | None, parent: _Frame) -> Role:
        if parent.kind == 'function_declaration':
            return Role.DEFINED
        if parent.kind in ('var_spec', 'const_spec') and field == 'name':
            return self._declared()
        if parent.kind.endswith('parameter_declaration') and field == 'name':
            return Role.BOUND
        if parent.kind == 'call_expression' and field == 'function':
            return Role.CALLED
        if parent.kind == 'selector_expression' and field == 'operand':
            return Role.OPERAND
        if parent.kind == 'literal_element' and parent.field == 'key':
            return Role.KEY
        return Role.BOUND if self._is_bound(parent) else Role.LOADED

    def _is_bound(self, parent: _Frame) -> bool:
        """Whether a name stands left of `:=`."""
        if parent.kind != 'expression_list' or len(self._stack) < 2:
            return False
        above = self._stack[-2]
        if parent.field == 'alias':
            return True
        return parent.field == 'left' and any(c.type == ':=' for c in above.node.children)

    def _declared(self) -> Role:
        local = any(frame.kind == 'block' for frame in self._stack)
        return Role.BOUND if local else Role.DEFINED

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors='replace')


def _said(comment: str) -> str:
    """What a comment says, white space at the ends of its lines aside."""
    text = comment[2:].removesuffix('*/') if comment.startswith('/*') else comment[2:]
    return '\n'.join(line.strip() for line in text.strip().split('\n'))
