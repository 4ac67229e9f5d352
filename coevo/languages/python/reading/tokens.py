"""The tokens of a Python file in order, as the compiler means them: blind to comments, docstrings and layout.

Indentation and the ends of statements are tokens of their own. What black and ruff change is in one
form: quotes, magic commas, redundant parentheses, one-line suites, implicit concatenation.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language
from tree_sitter import Node
from tree_sitter import TreeCursor

from coevo.languages.grammars import fixed_kinds
from coevo.languages.python.reading.literals import content
from coevo.languages.python.reading.literals import number
from coevo.languages.python.reading.literals import plain
from coevo.languages.python.reading.literals import prefix
from coevo.languages.python.reading.literals import spelled
from coevo.languages.python.reading.redundancy import Frame
from coevo.languages.python.reading.redundancy import is_docstring
from coevo.languages.python.reading.redundancy import is_redundant

PYTHON = Language(tree_sitter_python.language())
# Words and signs that are always written so, and whose neighbours cannot make them redundant.
_FIXED = fixed_kinds(PYTHON) - {'(', ')', ',', ';', 'not in', 'is not'}
INDENT, DEDENT, NEWLINE = '\x02', '\x03', '\n'
_SKIPPED = frozenset({'comment', 'line_continuation'})
_NAME, _TYPE = '\1name', '\1type'  # no token of Python begins so
# Statements that hold others end with these.
_COMPOUND = frozenset(
    ('if', 'for', 'while', 'try', 'with', 'match', 'decorated', 'function', 'class')
)

Span = tuple[int, int]
"""Bytes, the end exclusive; or numbers of tokens."""


class Role(Enum):
    """What an identifier is where it stands."""

    LOADED = 'loaded'
    CALLED = 'called'
    ATTRIBUTE = 'attribute'  # behind a dot
    BOUND = 'bound'  # a variable that is assigned
    PARAMETER = 'parameter'
    OPTIONAL = 'optional'  # a parameter with a default, or of any number
    KEYWORD = 'keyword'  # of an argument
    DEFINED = 'defined'  # of a function or class
    ANNOTATION = 'annotation'  # in a type


@dataclass(frozen=True, slots=True)
class PythonToken:
    start: int
    text: str
    role: Role | None = None
    string: str | None = None  # the content of a plain string


# What is kept of a function that neighbouring revisions of a file share: the longest, in bytes, and
# not one that holds import statements, which are looked for by their nodes.
_LONGEST = 1 << 15
_IMPORT = b'import'


@dataclass(frozen=True, slots=True)
class _Leaves:
    """PythonTokens in columns, and comments; by their offsets in a file, or in a function."""

    starts: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    roles: list[Role | None] = field(default_factory=list)
    strings: list[str | None] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)

    def append(
        self, start: int, text: str, role: Role | None = None, string: str | None = None
    ) -> None:
        self.starts.append(start)
        self.texts.append(text)
        self.roles.append(role)
        self.strings.append(string)

    def add(self, other: _Leaves, at: int) -> None:
        """Those of a function that begins at an offset."""
        self.starts.extend([start + at for start in other.starts])
        self.texts.extend(other.texts)
        self.roles.extend(other.roles)
        self.strings.extend(other.strings)
        self.comments.extend([(start + at, end + at) for start, end in other.comments])

    def part(self, first: int, last: int) -> _Leaves:
        return _Leaves(
            self.starts[first:last],
            self.texts[first:last],
            self.roles[first:last],
            self.strings[first:last],
        )


@dataclass(slots=True)
class _Kept:
    """What a function has, with the place of its body among its tokens."""

    leaves: _Leaves | None = None
    body: Span = (0, 0)


class PythonTokens:
    """All tokens of a file; `of` gives those of a statement, `within` those of bytes.

    `comments` are the spans of comments in their order. All is found in one pass.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._leaves = _Leaves()
        self.comments = self._leaves.comments
        self._places: dict[int, Span] = {}
        # Where a parser recovers, it reads words otherwise.
        self._shares = not root.has_error
        self._read(root.walk())

    @property
    def texts(self) -> Sequence[str]:
        """All of them, in order."""
        return self._leaves.texts

    def of(self, node: Node, without: Iterable[Node] = ()) -> PythonSlice:
        """The tokens of a statement or of the file, but for those of statements in it."""
        return self._slice(outside(self._places[node.id], map(self._place, without)))

    def within(self, spans: Iterable[Span]) -> PythonSlice:
        """The tokens that begin in some bytes."""
        starts = self._leaves.starts
        return self._slice(
            [(bisect_left(starts, start), bisect_left(starts, end)) for start, end in spans]
        )

    def _slice(self, places: Iterable[Span]) -> PythonSlice:
        found, all_ = _Leaves(), self._leaves
        for first, last in places:
            found.starts.extend(all_.starts[first:last])
            found.texts.extend(all_.texts[first:last])
            found.roles.extend(all_.roles[first:last])
            found.strings.extend(all_.strings[first:last])
        return PythonSlice(
            starts=tuple(found.starts),
            texts=tuple(found.texts),
            roles=tuple(found.roles),
            contents=tuple(found.strings),
        )

    def _place(self, node: Node) -> Span:
        return self._places[node.id]

    def _read(self, cursor: TreeCursor) -> None:
        stack: list[Frame] = []
        while True:
            node = cursor.node
            assert node is not None
            kind = node.type
            if kind in _FIXED:
                if node.end_byte > node.start_byte:
                    self._leaves.append(node.start_byte, kind)
            elif kind == 'identifier':
                self._add_identifier(node, cursor.field_name, stack)
            else:
                frame = Frame(node, kind, cursor.field_name, len(self._leaves.texts))
                if not self._is_atom(frame, stack) and cursor.goto_first_child():
                    if kind == 'block':
                        self._leaves.append(node.start_byte, INDENT)
                    stack.append(frame)
                    continue
                self._leave(frame, stack)
            while not cursor.goto_next_sibling():
                if not stack or not cursor.goto_parent():
                    return
                self._leave(stack.pop(), stack)

    def kept(self, function: Node) -> bytes | None:
        """The text of a function of which all is kept that it says; None where nothing is."""
        start, end = function.start_byte, function.end_byte
        if not self._shares or end - start > _LONGEST:
            return None
        text = self._source[start:end]
        return None if _IMPORT in text else text

    def _is_known(self, function: Node) -> bool:
        """Whether a function's tokens were read in another file, which are then added."""
        text = self.kept(function)
        body = function.child_by_field_name('body')
        if text is None or body is None:
            return False
        known = _kept(function.start_point.column, text)
        if known.leaves is None:
            return False
        first = len(self._leaves.texts)
        self._leaves.add(known.leaves, function.start_byte)
        self._places[body.id] = (first + known.body[0], first + known.body[1])
        return True

    def _keep(self, frame: Frame) -> None:
        """Keep the tokens of a function that was just read."""
        text = self.kept(frame.node)
        body = frame.node.child_by_field_name('body')
        if text is None or body is None:
            return
        start, (first, last) = frame.node.start_byte, self._places[body.id]
        known = _kept(frame.node.start_point.column, text)
        found, read = _Leaves(), self._leaves.part(frame.first, len(self._leaves.texts))
        read.comments.extend(self.comments[bisect_left(self.comments, (start, start)) :])
        found.add(read, -start)
        known.body = (first - frame.first, last - frame.first)
        known.leaves = found

    def _is_atom(self, frame: Frame, stack: list[Frame]) -> bool:
        """Whether a node is read as a whole, which is then done."""
        kind, node = frame.kind, frame.node
        if kind == 'function_definition':
            frame.known = self._is_known(node)
            return frame.known
        if kind in _SKIPPED:
            if kind == 'comment':
                self.comments.append((node.start_byte, node.end_byte))
            return True
        if kind in ('string', 'concatenated_string'):
            return self._is_plain_string(node)
        if kind == 'expression_statement' and is_docstring(node, stack):
            frame.silent = True
            return True
        if node.child_count == 0 or kind == 'string_content':
            if node.end_byte > node.start_byte and not is_redundant(frame, stack):
                self._add_leaf(frame)
            return True
        return False

    def _is_plain_string(self, node: Node) -> bool:
        """Whether a string holds no expressions; neighbours of one kind become one token."""
        parts = node.children if node.type == 'concatenated_string' else [node]
        parts = [part for part in parts if part.type not in _SKIPPED]
        if any(child.type == 'interpolation' for part in parts for child in part.children):
            return False
        read = [plain(self._text(part)) for part in parts]
        if len({letters for letters, _ in read}) != 1:
            return False
        text = ''.join(part for _, part in read)
        token = spelled(read[0][0], text)
        self._leaves.append(node.start_byte, sys.intern(token), None, text)
        return True

    def _add_identifier(self, node: Node, field: str | None, stack: list[Frame]) -> None:
        if node.end_byte > node.start_byte:
            text = sys.intern(self._text(node))
            self._leaves.append(node.start_byte, text, _role(field, stack))

    def _add_leaf(self, frame: Frame) -> None:
        text = self._text(frame.node)
        if frame.kind in ('integer', 'float'):
            text = number(text)
        elif frame.kind in ('string_start', 'string_end'):
            text = prefix(text.rstrip('\'"')) + "'"
        elif frame.kind == 'string_content':
            text = content(text, '')
        self._leaves.append(frame.node.start_byte, sys.intern(text))

    def _leave(self, frame: Frame, stack: list[Frame]) -> None:
        kind, node = frame.kind, frame.node
        is_statement = kind.endswith(('_statement', '_definition'))
        if kind == 'block':
            self._leaves.append(max(node.end_byte - 1, node.start_byte), DEDENT)
        elif is_statement and kind.partition('_')[0] not in _COMPOUND and not frame.silent:
            self._leaves.append(max(node.end_byte - 1, node.start_byte), NEWLINE)
        # The root, whatever it is: of a file that cannot be parsed it is no module.
        if is_statement or kind == 'block' or not stack:
            self._places[node.id] = (frame.first, len(self._leaves.texts))
        if kind == 'function_definition' and not frame.known:
            self._keep(frame)

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors='replace')


_BINDING = frozenset(
    {'pattern_list', 'tuple_pattern', 'list_pattern', 'as_pattern_target', 'list_splat_pattern'}
)
_PARAMETERS = frozenset({'parameters', 'lambda_parameters', 'typed_parameter'})
_BY_FIELD = {
    ('call', 'function'): Role.CALLED,
    ('decorator', None): Role.CALLED,
    ('attribute', 'attribute'): Role.ATTRIBUTE,
    ('keyword_argument', 'name'): Role.KEYWORD,
    ('function_definition', 'name'): Role.DEFINED,
    ('class_definition', 'name'): Role.DEFINED,
    ('default_parameter', 'name'): Role.OPTIONAL,
    ('typed_default_parameter', 'name'): Role.OPTIONAL,
    ('assignment', 'left'): Role.BOUND,
    ('augmented_assignment', 'left'): Role.BOUND,
    ('for_statement', 'left'): Role.BOUND,
    ('for_in_clause', 'left'): Role.BOUND,
    ('named_expression', 'name'): Role.BOUND,
}


def _role(field: str | None, stack: list[Frame]) -> Role:
    parent = stack[-1].kind if stack else ''
    found = _BY_FIELD.get((parent, field))
    if found is not None:
        return _called(stack) if found is Role.ATTRIBUTE else found
    above = stack[-2].kind if len(stack) > 1 else ''
    if parent in ('list_splat_pattern', 'dictionary_splat_pattern'):
        return Role.OPTIONAL if above in _PARAMETERS else Role.BOUND
    if parent in _BINDING:
        return Role.BOUND
    if parent in _PARAMETERS:
        return Role.PARAMETER
    if any(each.kind == 'type' for each in stack[-4:]):
        return Role.ANNOTATION
    return Role.LOADED


def _called(stack: list[Frame]) -> Role:
    """Of a name behind a dot: whether the whole is called."""
    return Role.CALLED if stack[-1].field == 'function' else Role.ATTRIBUTE


@lru_cache(maxsize=1 << 14)
def _kept(column: int, text: bytes) -> _Kept:
    """Where to keep the tokens of a function, which its text tells with the column where it begins."""
    return _Kept()


@dataclass(frozen=True, kw_only=True)
class PythonSlice:
    """The tokens of a declaration in columns, and what they name."""

    starts: tuple[int, ...]
    texts: tuple[str, ...]
    roles: tuple[Role | None, ...]
    contents: tuple[str | None, ...]

    @property
    def tokens(self) -> tuple[PythonToken, ...]:
        columns = zip(self.starts, self.texts, self.roles, self.contents, strict=True)
        return tuple(PythonToken(*each) for each in columns)

    @property
    def names(self) -> frozenset[str]:
        return frozenset([text for text, role in self._roles if role is not None])

    @property
    def without_return(self) -> PythonSlice:
        """Those of a function whose head says `-> None`, without these words: they are in no other place before."""
        at = self.texts.index('->')
        kept = [place for place in range(len(self.texts)) if place not in (at, at + 1)]
        return PythonSlice(
            starts=tuple(self.starts[place] for place in kept),
            texts=tuple(self.texts[place] for place in kept),
            roles=tuple(self.roles[place] for place in kept),
            contents=tuple(self.contents[place] for place in kept),
        )

    @property
    def _roles(self) -> Iterator[tuple[str, Role | None]]:
        return zip(self.texts, self.roles, strict=True)

    @property
    def types(self) -> frozenset[str]:
        """Names in annotations, and what is called by a name like a class's."""
        return frozenset(
            text
            for text, role in self._roles
            if role is Role.ANNOTATION or (role is Role.CALLED and text[:1].isupper())
        )

    @property
    def calls(self) -> frozenset[str]:
        """What is called, or handed over to be: any name read that is no local variable.

        A property is called by its name alone, and a fixture by that of a parameter without default
        (https://docs.pytest.org/en/stable/how-to/fixtures.html#requesting-fixtures).
        """
        local = self._having(Role.BOUND, Role.PARAMETER, Role.OPTIONAL)
        loaded = self._having(Role.LOADED) - local
        return loaded | self._having(Role.CALLED, Role.ATTRIBUTE, Role.PARAMETER)

    @property
    def bound(self) -> frozenset[str]:
        return self._having(Role.BOUND)

    def _having(self, *roles: Role) -> frozenset[str]:
        return frozenset([text for text, role in self._roles if role in roles])

    @property
    def strings(self) -> frozenset[str]:
        return frozenset(text for text in self.contents if text is not None)

    def bare(self, name: str, simple: str) -> tuple[str, ...]:
        """The texts with a declaration's own name and its class's replaced by placeholders.

        Behind a dot the name is most often that of what a test tests, not its own.
        """
        bare, before = [], ''
        for text, role in self._roles:
            own = role is not None and text == name and before != '.'
            type_ = role is not None and text == simple
            bare.append(_NAME if own else _TYPE if type_ else text)
            before = text
        return tuple(bare)


def outside(span: Span, holes: Iterable[Span]) -> list[Span]:
    """The parts of a span that no hole covers."""
    parts = []
    start, end = span
    for first, last in sorted(holes):
        parts.append((start, first))
        start = max(start, last)
    return [*parts, (start, end)]
