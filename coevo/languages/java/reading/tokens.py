"""The tokens of a Java file in order, blind to comments and white space, and slices of them."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_java
from tree_sitter import Language
from tree_sitter import Node

from coevo.languages.spans import Span

JAVA = Language(tree_sitter_java.language())
COMMENTS = frozenset({'line_comment', 'block_comment'})
_LITERALS = frozenset({'string_literal', 'character_literal'})
_IDENTIFIERS = frozenset({'identifier', 'type_identifier'})
# What names something that is invoked, and the field that has the name.
_INVOKING = {
    'method_invocation': 'name',
    'object_creation_expression': 'type',
    'method_reference': '',
}
_NAME, _TYPE = '\1name', '\1type'  # no Java token begins so


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaToken:
    start: int
    text: str
    kind: str


class JavaTokens:
    """All tokens of a file; `within` gives those of some spans. Text blocks are unindented.

    `comments` are the spans of comments in their order. All is found in one pass: a query of
    tree-sitter takes the square of the number of brackets that nobody closes.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        self.comments: list[Span] = []
        self._calls: list[tuple[int, str]] = []
        self._tokens = self._read(root, source)
        self._starts = [token.start for token in self._tokens]
        self._calls.sort()
        self._call_starts = [start for start, _ in self._calls]

    def _read(self, root: Node, source: bytes) -> list[JavaToken]:
        tokens: list[JavaToken] = []
        cursor = root.walk()
        while True:
            node = cursor.node
            assert node is not None
            kind = node.type
            if kind in _INVOKING:
                self._calls += _invoked(node, kind, source)
            atom = kind in COMMENTS or kind in _LITERALS
            if not atom and cursor.goto_first_child():
                continue
            if kind in COMMENTS:
                self.comments.append((node.start_byte, node.end_byte))
            elif node.end_byte > node.start_byte:
                text = source[node.start_byte : node.end_byte].decode(errors='replace')
                if text.startswith('"""'):
                    text = f'"""{_unindent(text[3:-3])}"""'
                tokens.append(JavaToken(start=node.start_byte, text=sys.intern(text), kind=kind))
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return tokens

    def within(self, spans: Iterable[Span]) -> JavaSlice:
        tokens: list[JavaToken] = []
        calls: list[str] = []
        for start, end in spans:
            tokens += self._tokens[
                bisect_left(self._starts, start) : bisect_left(self._starts, end)
            ]
            first, last = bisect_left(self._call_starts, start), bisect_left(self._call_starts, end)
            calls += [name for _, name in self._calls[first:last]]
        return JavaSlice(tokens=tuple(tokens), calls=frozenset(calls))


@dataclass(frozen=True, kw_only=True)
class JavaSlice:
    """The tokens of a declaration and what they name."""

    tokens: tuple[JavaToken, ...]
    calls: frozenset[str]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)

    @property
    def types(self) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens if token.kind == 'type_identifier')

    @property
    def names(self) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens if token.kind in _IDENTIFIERS)

    @property
    def strings(self) -> frozenset[str]:
        return frozenset(
            _content(token.text) for token in self.tokens if token.kind == 'string_literal'
        )

    def bare(self, name: str, simple: str) -> tuple[str, ...]:
        """The texts with a declaration's own name and its class's replaced by placeholders.

        Behind a dot the name is most often that of what a test tests, not its own.
        """
        bare, before = [], ''
        for text in self.texts:
            own = text == name and before not in ('.', '::')
            bare.append(_NAME if own else _TYPE if text == simple else text)
            before = text
        return tuple(bare)


def _invoked(node: Node, kind: str, source: bytes) -> Iterator[tuple[int, str]]:
    """Where a node names what it invokes, and its simple name."""
    field = _INVOKING[kind]
    target = node.child_by_field_name(field) if field else _target(node)
    if target is None or (kind == 'method_invocation' and target.type != 'identifier'):
        return
    name = source[target.start_byte : target.end_byte].decode(errors='replace')
    yield (target if field else node).start_byte, erase(name)


def _target(reference: Node) -> Node:
    """What a method reference names: the method, or the type for `Type::new`."""
    last = reference.children[-1]
    return reference.children[0] if last.type == 'new' else last


def code_end(source: bytes, at: int) -> int:
    """Where what stands before a place ends, white space aside."""
    while at and source[at - 1 : at].isspace():
        at -= 1
    return at


def erase(name: str) -> str:
    """The simple name of a type as written: without type arguments, package and annotations."""
    words = name.partition('<')[0].split()  # none in code with errors
    return words[-1].rpartition('.')[2] if words else ''


def _content(literal: str) -> str:
    quotes = 3 if literal.startswith('"""') else 1
    return literal[quotes:-quotes]


def _unindent(block: str) -> str:
    """The content of a text block without incidental white space (JLS 3.10.6)."""
    lines = block.partition('\n')[2].replace('\r', '').split('\n')
    significant = [line for line in lines[:-1] if line.strip()] + lines[-1:]
    margin = min(len(line) - len(line.lstrip()) for line in significant)
    return '\n'.join(line[margin:].rstrip() for line in lines)
