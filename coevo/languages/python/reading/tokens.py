"""The tokens of a Python file in order, as the compiler sees them.

Comments, docstrings and layout are ignored. Indentation and the ends of statements are tokens of
their own. Everything that black and ruff rewrite has one canonical form: quotes, magic commas,
redundant parentheses, one-line suites, implicit concatenation.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Node, TreeCursor

from coevo.languages.grammars import list_fixed_node_kinds
from coevo.languages.python.reading.redundancy import (
    Frame,
    is_docstring,
    is_redundant,
    make_string_token,
    normalise_content,
    normalise_number,
    normalise_prefix,
    split_string_literal,
)
from coevo.languages.spans import Span, subtract_holes

PYTHON = Language(tree_sitter_python.language())
# Keywords and operators with a single spelling that no neighbour can make redundant.
_FIXED = list_fixed_node_kinds(PYTHON) - {'(', ')', ',', ';', 'not in', 'is not'}
INDENT, DEDENT, NEWLINE = '\x02', '\x03', '\n'
_SKIPPED = frozenset({'comment', 'line_continuation'})
_NAME, _TYPE = '\1name', '\1type'  # no Python token starts with \1
# The kinds of compound statements start with these; they get no NEWLINE token at their end.
_COMPOUND = frozenset(
    ('if', 'for', 'while', 'try', 'with', 'match', 'decorated', 'function', 'class')
)


class TokenRole(Enum):
    """The role of an identifier at its position."""

    LOADED = 'loaded'
    CALLED = 'called'
    ATTRIBUTE = 'attribute'  # after a dot
    BOUND = 'bound'  # a variable that is assigned
    PARAMETER = 'parameter'
    OPTIONAL = 'optional'  # a parameter with a default, or `*args` and `**kwargs`
    KEYWORD = 'keyword'  # the name of a keyword argument
    DEFINED = 'defined'  # the name of a function or class
    ANNOTATION = 'annotation'  # inside a type annotation


@dataclass(frozen=True, slots=True)
class PythonToken:
    """One token: its offset in bytes, its text and, for an identifier, its role."""

    start: int
    text: str
    role: TokenRole | None = None
    string: str | None = None  # the content of a string without expressions


# Tokens are shared between revisions only for functions up to this many bytes and without import
# statements, which are looked up by their nodes.
_LONGEST = 1 << 15
_IMPORT = b'import'


@dataclass(frozen=True, slots=True)
class _PythonTokenColumns:
    """The tokens of a file or function as parallel lists, and the spans of its comments.

    All offsets are in bytes from the start of the file or function.
    """

    starts: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    roles: list[TokenRole | None] = field(default_factory=list)
    strings: list[str | None] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)

    def append_token(
        self, start: int, text: str, role: TokenRole | None = None, string: str | None = None
    ) -> None:
        """Append one token."""
        self.starts.append(start)
        self.texts.append(text)
        self.roles.append(role)
        self.strings.append(string)

    def append_function_tokens(self, other: _PythonTokenColumns, at: int) -> None:
        """Append the tokens and comments of a function that begins at the offset `at`."""
        self.starts.extend([start + at for start in other.starts])
        self.texts.extend(other.texts)
        self.roles.extend(other.roles)
        self.strings.extend(other.strings)
        self.comments.extend([(start + at, end + at) for start, end in other.comments])

    def copy_part(self, first: int, last: int) -> _PythonTokenColumns:
        """Return a copy of the tokens `first` to `last`, the latter excluded; no comments."""
        return _PythonTokenColumns(
            self.starts[first:last],
            self.texts[first:last],
            self.roles[first:last],
            self.strings[first:last],
        )


@dataclass(slots=True)
class _FunctionTokens:
    """The cached tokens of a function, if any, and the range of its body among them."""

    leaves: _PythonTokenColumns | None = None
    body: Span = (0, 0)


class PythonTokens:
    """All tokens of a file, read in one pass.

    `slice_node` returns those of a statement, `slice_bytes` those of byte spans. `comments` are the
    spans of the comments, in order.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._leaves = _PythonTokenColumns()
        self.comments = self._leaves.comments
        self._places: dict[int, Span] = {}
        # After a syntax error the parser may read the same text differently, so nothing is shared.
        self._shares = not root.has_error
        self._read_tree_tokens(root.walk())

    @property
    def texts(self) -> Sequence[str]:
        """The texts of all tokens, in order."""
        return self._leaves.texts

    def slice_node(self, node: Node, without: Iterable[Node] = ()) -> PythonSlice:
        """Return the tokens of a statement, block or file, without those of the nodes `without`."""
        return self._make_slice(
            subtract_holes(self._places[node.id], map(self._get_token_range, without))
        )

    def slice_bytes(self, spans: Iterable[Span]) -> PythonSlice:
        """Return the tokens that begin within byte spans, each from an offset to before another."""
        starts = self._leaves.starts
        return self._make_slice(
            [(bisect_left(starts, start), bisect_left(starts, end)) for start, end in spans]
        )

    def _make_slice(self, places: Iterable[Span]) -> PythonSlice:
        columns, all_ = _PythonTokenColumns(), self._leaves
        for first, last in places:
            columns.starts.extend(all_.starts[first:last])
            columns.texts.extend(all_.texts[first:last])
            columns.roles.extend(all_.roles[first:last])
            columns.strings.extend(all_.strings[first:last])
        return PythonSlice(
            starts=tuple(columns.starts),
            texts=tuple(columns.texts),
            roles=tuple(columns.roles),
            contents=tuple(columns.strings),
        )

    def _get_token_range(self, node: Node) -> Span:
        return self._places[node.id]

    def _read_tree_tokens(self, cursor: TreeCursor) -> None:
        stack: list[Frame] = []
        while True:
            node = cursor.node
            assert node is not None
            kind = node.type
            if kind in _FIXED:
                if node.end_byte > node.start_byte:
                    self._leaves.append_token(node.start_byte, kind)
            elif kind == 'identifier':
                self._add_identifier(node, cursor.field_name, stack)
            else:
                frame = Frame(node, kind, cursor.field_name, len(self._leaves.texts))
                if (
                    not self._try_read_without_descending(frame, stack)
                    and cursor.goto_first_child()
                ):
                    if kind == 'block':
                        self._leaves.append_token(node.start_byte, INDENT)
                    stack.append(frame)
                    continue
                self._leave_node(frame, stack)
            while not cursor.goto_next_sibling():
                if not stack or not cursor.goto_parent():
                    return
                self._leave_node(stack.pop(), stack)

    def get_shareable_text(self, function: Node) -> bytes | None:
        """Return the text of a function if equal texts may share its tokens; else None.

        None for a long function, one with an import, and in a file with a syntax error.
        """
        start, end = function.start_byte, function.end_byte
        if not self._shares or end - start > _LONGEST:
            return None
        text = self._source[start:end]
        return None if _IMPORT in text else text

    def _append_cached_function(self, function: Node) -> bool:
        """Append the tokens of a function from the cache; return False if they are not cached."""
        text = self.get_shareable_text(function)
        body = function.child_by_field_name('body')
        if text is None or body is None:
            return False
        known = _get_function_tokens(function.start_point.column, text)
        if known.leaves is None:
            return False
        first = len(self._leaves.texts)
        self._leaves.append_function_tokens(known.leaves, function.start_byte)
        self._places[body.id] = (first + known.body[0], first + known.body[1])
        return True

    def _cache_function(self, frame: Frame) -> None:
        """Cache the tokens of a function that was just read."""
        text = self.get_shareable_text(frame.node)
        body = frame.node.child_by_field_name('body')
        if text is None or body is None:
            return
        start, (first, last) = frame.node.start_byte, self._places[body.id]
        known = _get_function_tokens(frame.node.start_point.column, text)
        columns, read = (
            _PythonTokenColumns(),
            self._leaves.copy_part(frame.first, len(self._leaves.texts)),
        )
        read.comments.extend(self.comments[bisect_left(self.comments, (start, start)) :])
        columns.append_function_tokens(read, -start)
        known.body = (first - frame.first, last - frame.first)
        known.leaves = columns

    def _try_read_without_descending(self, frame: Frame, stack: list[Frame]) -> bool:
        """Read a node whose children need no visit; return False if they have to be visited."""
        kind, node = frame.kind, frame.node
        if kind == 'function_definition':
            frame.known = self._append_cached_function(node)
            return frame.known
        if kind in _SKIPPED:
            if kind == 'comment':
                self.comments.append((node.start_byte, node.end_byte))
            return True
        if kind in ('string', 'concatenated_string'):
            return self._try_add_plain_string(node)
        if kind == 'expression_statement' and is_docstring(node, stack):
            frame.silent = True
            return True
        if node.child_count == 0 or kind == 'string_content':
            if node.end_byte > node.start_byte and not is_redundant(frame, stack):
                self._add_leaf(frame)
            return True
        return False

    def _try_add_plain_string(self, node: Node) -> bool:
        """Append a string without expressions as a token; return False for any other string.

        Adjacent strings with the same prefix become one token; for different prefixes, return
        False.
        """
        parts = node.children if node.type == 'concatenated_string' else [node]
        parts = [part for part in parts if part.type not in _SKIPPED]
        if any(child.type == 'interpolation' for part in parts for child in part.children):
            return False
        read = [split_string_literal(self._get_text(part)) for part in parts]
        if len({letters for letters, _ in read}) != 1:
            return False
        text = ''.join(part for _, part in read)
        token = make_string_token(read[0][0], text)
        self._leaves.append_token(node.start_byte, sys.intern(token), None, text)
        return True

    def _add_identifier(self, node: Node, field: str | None, stack: list[Frame]) -> None:
        if node.end_byte > node.start_byte:
            text = sys.intern(self._get_text(node))
            self._leaves.append_token(node.start_byte, text, _determine_role(field, stack))

    def _add_leaf(self, frame: Frame) -> None:
        text = self._get_text(frame.node)
        if frame.kind in ('integer', 'float'):
            text = normalise_number(text)
        elif frame.kind in ('string_start', 'string_end'):
            text = normalise_prefix(text.rstrip('\'"')) + "'"
        elif frame.kind == 'string_content':
            text = normalise_content(text, '')
        self._leaves.append_token(frame.node.start_byte, sys.intern(text))

    def _leave_node(self, frame: Frame, stack: list[Frame]) -> None:
        kind, node = frame.kind, frame.node
        is_statement = kind.endswith(('_statement', '_definition'))
        if kind == 'block':
            self._leaves.append_token(max(node.end_byte - 1, node.start_byte), DEDENT)
        elif is_statement and kind.partition('_')[0] not in _COMPOUND and not frame.silent:
            self._leaves.append_token(max(node.end_byte - 1, node.start_byte), NEWLINE)
        # The root is included whatever its kind: it is not a module in an unparsable file.
        if is_statement or kind == 'block' or not stack:
            self._places[node.id] = (frame.first, len(self._leaves.texts))
        if kind == 'function_definition' and not frame.known:
            self._cache_function(frame)

    def _get_text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors='replace')


_BINDING = frozenset(
    {'pattern_list', 'tuple_pattern', 'list_pattern', 'as_pattern_target', 'list_splat_pattern'}
)
_PARAMETERS = frozenset({'parameters', 'lambda_parameters', 'typed_parameter'})
_BY_FIELD = {
    ('call', 'function'): TokenRole.CALLED,
    ('decorator', None): TokenRole.CALLED,
    ('attribute', 'attribute'): TokenRole.ATTRIBUTE,
    ('keyword_argument', 'name'): TokenRole.KEYWORD,
    ('function_definition', 'name'): TokenRole.DEFINED,
    ('class_definition', 'name'): TokenRole.DEFINED,
    ('default_parameter', 'name'): TokenRole.OPTIONAL,
    ('typed_default_parameter', 'name'): TokenRole.OPTIONAL,
    ('assignment', 'left'): TokenRole.BOUND,
    ('augmented_assignment', 'left'): TokenRole.BOUND,
    ('for_statement', 'left'): TokenRole.BOUND,
    ('for_in_clause', 'left'): TokenRole.BOUND,
    ('named_expression', 'name'): TokenRole.BOUND,
}


def _determine_role(field: str | None, stack: list[Frame]) -> TokenRole:
    parent = stack[-1].kind if stack else ''
    role = _BY_FIELD.get((parent, field))
    if role is not None:
        return _classify_attribute(stack) if role is TokenRole.ATTRIBUTE else role
    above = stack[-2].kind if len(stack) > 1 else ''
    if parent in ('list_splat_pattern', 'dictionary_splat_pattern'):
        return TokenRole.OPTIONAL if above in _PARAMETERS else TokenRole.BOUND
    if parent in _BINDING:
        return TokenRole.BOUND
    if parent in _PARAMETERS:
        return TokenRole.PARAMETER
    if any(each.kind == 'type' for each in stack[-4:]):
        return TokenRole.ANNOTATION
    return TokenRole.LOADED


def _classify_attribute(stack: list[Frame]) -> TokenRole:
    """Return CALLED for a name after a dot if the whole attribute is called, else ATTRIBUTE."""
    return TokenRole.CALLED if stack[-1].field == 'function' else TokenRole.ATTRIBUTE


@lru_cache(maxsize=1 << 14)
def _get_function_tokens(column: int, text: bytes) -> _FunctionTokens:
    """Return the cache entry for a function, empty at first.

    Its text and its start column determine its tokens.
    """
    return _FunctionTokens()


@dataclass(frozen=True, kw_only=True)
class PythonSlice:
    """A part of a file's tokens, such as those of a declaration, and the names among them."""

    starts: tuple[int, ...]
    texts: tuple[str, ...]
    roles: tuple[TokenRole | None, ...]
    contents: tuple[str | None, ...]

    @property
    def tokens(self) -> tuple[PythonToken, ...]:
        """The tokens as objects."""
        columns = zip(self.starts, self.texts, self.roles, self.contents, strict=True)
        return tuple(PythonToken(*each) for each in columns)

    @property
    def names(self) -> frozenset[str]:
        """The texts of all identifiers, in any role."""
        return frozenset([text for text, role in self._texts_with_roles if role is not None])

    @property
    def without_return_annotation(self) -> PythonSlice:
        """The tokens of a function without the first `-> X`, the return annotation of its head.

        The head must have one, and X must be one token, such as `None`.
        """
        at = self.texts.index('->')
        positions = [
            position for position in range(len(self.texts)) if position not in (at, at + 1)
        ]
        return PythonSlice(
            starts=tuple(self.starts[position] for position in positions),
            texts=tuple(self.texts[position] for position in positions),
            roles=tuple(self.roles[position] for position in positions),
            contents=tuple(self.contents[position] for position in positions),
        )

    @property
    def _texts_with_roles(self) -> Iterator[tuple[str, TokenRole | None]]:
        return zip(self.texts, self.roles, strict=True)

    @property
    def types(self) -> frozenset[str]:
        """The names in annotations, and called names that are capitalised like a class."""
        return frozenset(
            text
            for text, role in self._texts_with_roles
            if role is TokenRole.ANNOTATION or (role is TokenRole.CALLED and text[:1].isupper())
        )

    @property
    def calls(self) -> frozenset[str]:
        """The names that may be called: every name that is read and is no local variable.

        A property is called by its name alone, and a fixture by a parameter without a default
        (https://docs.pytest.org/en/stable/how-to/fixtures.html#requesting-fixtures).
        """
        local = self._find_names(TokenRole.BOUND, TokenRole.PARAMETER, TokenRole.OPTIONAL)
        loaded = self._find_names(TokenRole.LOADED) - local
        return loaded | self._find_names(TokenRole.CALLED, TokenRole.ATTRIBUTE, TokenRole.PARAMETER)

    @property
    def bound(self) -> frozenset[str]:
        """The names of variables that are assigned."""
        return self._find_names(TokenRole.BOUND)

    def _find_names(self, *roles: TokenRole) -> frozenset[str]:
        return frozenset([text for text, role in self._texts_with_roles if role in roles])

    @property
    def strings(self) -> frozenset[str]:
        """The contents of all strings without expressions."""
        return frozenset(text for text in self.contents if text is not None)

    def replace_own_names(self, name: str, simple: str) -> tuple[str, ...]:
        """Return the texts with placeholders for the declaration's own name and its class's name.

        So equal texts mean equal declarations but for their names. After a dot the own name is
        kept, as there it mostly means the tested function.
        """
        bare, before = [], ''
        for text, role in self._texts_with_roles:
            own = role is not None and text == name and before != '.'
            type_ = role is not None and text == simple
            bare.append(_NAME if own else _TYPE if type_ else text)
            before = text
        return tuple(bare)
