"""Tokens of a Java file in order, without comments and white space, and slices of them."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import tree_sitter_java
from tree_sitter import Language, Node, Parser

from coevo.languages.grammars import list_fixed_node_kinds
from coevo.languages.prints import LexicalRules
from coevo.languages.reading import DeclarationPart, Word
from coevo.languages.spans import Span

JAVA = Language(tree_sitter_java.language())
_FIXED = list_fixed_node_kinds(JAVA)
COMMENTS = frozenset({'line_comment', 'block_comment'})
_LITERALS = frozenset({'string_literal', 'character_literal'})
_IDENTIFIERS = frozenset({'identifier', 'type_identifier'})
# Nodes that invoke something, and the field that holds the invoked name.
_INVOKING = {
    'method_invocation': 'name',
    'object_creation_expression': 'type',
    'method_reference': '',
}
_NAME, _TYPE = '\1name', '\1type'  # no Java token begins with this character


# Declarations that neighbouring revisions of a file mostly share, and the longest in bytes that is
# cached.
_SHARED = frozenset({'method_declaration', 'constructor_declaration'})
_LONGEST = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaToken:
    """A token with its byte offset and its syntax tree node type."""

    start: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class _JavaLeaves:
    """The tokens below a node as parallel lists, and the node's comments and calls, by offsets."""

    starts: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    calls: list[tuple[int, str]] = field(default_factory=list)

    def add_shifted(self, other: _JavaLeaves, at: int) -> None:
        """Append the leaves of a node that begins at offset `at`."""
        self.starts.extend([start + at for start in other.starts])
        self.texts.extend(other.texts)
        self.kinds.extend(other.kinds)
        self.comments.extend([(start + at, end + at) for start, end in other.comments])
        self.calls.extend([(start + at, name) for start, name in other.calls])


@dataclass(slots=True)
class _CachedJavaLeaves:
    leaves: _JavaLeaves | None = None


class JavaTokens:
    """All tokens of a file; `slice_spans` returns those in some spans.

    Text blocks are unindented. `comments` holds the spans of the comments in order. Everything is
    collected in one traversal, because a tree-sitter query takes time quadratic in the number of
    unclosed brackets.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        # Error recovery can parse the same text differently, so files with errors share nothing.
        self._leaves = _collect_leaves(root, source, root.start_byte, shares=not root.has_error)
        self.comments = self._leaves.comments
        self._calls = sorted(self._leaves.calls)
        self._call_starts = [start for start, _ in self._calls]

    @property
    def texts(self) -> Sequence[str]:
        """The texts of all tokens, in order."""
        return self._leaves.texts

    def slice_spans(self, spans: Iterable[Span]) -> JavaSlice:
        """Return the tokens and called names whose first byte lies in one of the spans."""
        all_ = self._leaves
        leaves = _JavaLeaves()
        calls: list[str] = []
        for start, end in spans:
            first, last = bisect_left(all_.starts, start), bisect_left(all_.starts, end)
            leaves.starts.extend(all_.starts[first:last])
            leaves.texts.extend(all_.texts[first:last])
            leaves.kinds.extend(all_.kinds[first:last])
            first, last = bisect_left(self._call_starts, start), bisect_left(self._call_starts, end)
            calls.extend([name for _, name in self._calls[first:last]])
        return JavaSlice(
            starts=tuple(leaves.starts),
            texts=tuple(leaves.texts),
            kinds=tuple(leaves.kinds),
            calls=frozenset(calls),
        )


def _collect_leaves(root: Node, source: bytes, base: int, *, shares: bool) -> _JavaLeaves:
    """Return the tokens, comments and calls below a node, with offsets counted from `base`.

    With `shares`, methods and constructors that another file has with the same text are cached.
    """
    leaves = _JavaLeaves()
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        kind = node.type
        if kind in _FIXED:
            if node.end_byte > node.start_byte:
                leaves.starts.append(node.start_byte - base)
                leaves.texts.append(kind)
                leaves.kinds.append(kind)
        elif shares and is_shareable(node, kind):
            leaves.add_shifted(_get_shared_leaves(node, kind, source), node.start_byte - base)
        else:
            if kind in _INVOKING:
                leaves.calls.extend(
                    [(at - base, name) for at, name in _find_invoked_names(node, kind, source)]
                )
            atom = kind in COMMENTS or kind in _LITERALS
            if not atom and cursor.goto_first_child():
                continue
            start, end = node.start_byte, node.end_byte
            if kind in COMMENTS:
                leaves.comments.append((start - base, end - base))
            elif end > start:
                text = source[start:end].decode(errors='replace')
                if text.startswith('"""'):
                    text = f'"""{_unindent_text_block(text[3:-3])}"""'
                leaves.starts.append(start - base)
                leaves.texts.append(sys.intern(text))
                leaves.kinds.append(kind)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return leaves


def is_shareable(node: Node, kind: str) -> bool:
    """Return whether a node's result may be cached: it is a method or constructor of moderate size.

    Only valid in files without syntax errors, since error recovery can parse the same text
    differently.
    """
    return kind in _SHARED and node.end_byte - node.start_byte <= _LONGEST


def _get_shared_leaves(node: Node, kind: str, source: bytes) -> _JavaLeaves:
    cached = _get_leaves_cache_entry(kind, source[node.start_byte : node.end_byte])
    if cached.leaves is None:
        cached.leaves = _collect_leaves(node, source, node.start_byte, shares=False)
    return cached.leaves


@lru_cache(maxsize=1 << 14)
def _get_leaves_cache_entry(kind: str, text: bytes) -> _CachedJavaLeaves:
    """Return the cache entry for nodes of this kind and text; the caller fills it if it is new."""
    return _CachedJavaLeaves()


@dataclass(frozen=True, kw_only=True)
class JavaSlice:
    """The tokens of some spans of a file as parallel tuples, and the names called in them."""

    starts: tuple[int, ...]
    texts: tuple[str, ...]
    kinds: tuple[str, ...]
    calls: frozenset[str]

    @property
    def tokens(self) -> tuple[JavaToken, ...]:
        """The tokens as objects instead of columns."""
        columns = zip(self.starts, self.texts, self.kinds, strict=True)
        return tuple(JavaToken(start=start, text=text, kind=kind) for start, text, kind in columns)

    @property
    def types(self) -> frozenset[str]:
        """The simple names of the types mentioned."""
        return frozenset(
            [t for t, kind in zip(self.texts, self.kinds, strict=True) if kind == 'type_identifier']
        )

    @property
    def names(self) -> frozenset[str]:
        """The identifiers mentioned, including types."""
        return frozenset(
            [t for t, kind in zip(self.texts, self.kinds, strict=True) if kind in _IDENTIFIERS]
        )

    @property
    def strings(self) -> frozenset[str]:
        """The contents of the string literals and text blocks, without quotes."""
        return frozenset(
            _unquote(text)
            for text, kind in zip(self.texts, self.kinds, strict=True)
            if kind == 'string_literal'
        )

    def replace_own_names(self, name: str, simple: str) -> tuple[str, ...]:
        """Return the token texts with the names of a declaration and its class as placeholders.

        name    the declaration's name; kept after `.` and `::`, as there it mostly names the tested
                method
        simple  the class's simple name; always replaced
        """
        bare, before = [], ''
        for text in self.texts:
            own = text == name and before not in ('.', '::')
            bare.append(_NAME if own else _TYPE if text == simple else text)
            before = text
        return tuple(bare)


def _find_invoked_names(node: Node, kind: str, source: bytes) -> Iterator[tuple[int, str]]:
    """Yield the offset and simple name of the method or type that a node invokes; at most one."""
    field = _INVOKING[kind]
    target = node.child_by_field_name(field) if field else _find_reference_target(node)
    if target is None or (kind == 'method_invocation' and target.type != 'identifier'):
        return
    name = source[target.start_byte : target.end_byte].decode(errors='replace')
    yield (target if field else node).start_byte, erase_type_name(name)


def _find_reference_target(reference: Node) -> Node:
    """Return the node that a method reference names: the method, or the type for `Type::new`."""
    last = reference.children[-1]
    return reference.children[0] if last.type == 'new' else last


def erase_type_name(name: str) -> str:
    """Return the simple name of a type: `Entry` for `@Nullable Map.Entry<K, V>`, '' for ''."""
    words = name.partition('<')[0].split()  # no words in code with syntax errors
    return words[-1].rpartition('.')[2] if words else ''


def _unquote(literal: str) -> str:
    quotes = 3 if literal.startswith('"""') else 1
    return literal[quotes:-quotes]


def _unindent_text_block(block: str) -> str:
    """Return the content of a text block without incidental white space (JLS 3.10.6)."""
    lines = block.partition('\n')[2].replace('\r', '').split('\n')
    significant = [line for line in lines[:-1] if line.strip()] + lines[-1:]
    margin = min(len(line) - len(line.lstrip()) for line in significant)
    return '\n'.join(line[margin:].rstrip() for line in lines)


LEXIS = LexicalRules(
    comment=rb'//[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/',
    string=rb'''(?:
        """(?:\\.|[^"\\]++|"(?!""))*+"""
        | (?!""")"(?:\\.|[^"\\\n]++)*+"
        | '(?:\\.|[^'\\\n]++)*+'
    )''',
    # JUnit 3 and TestNG classes treat `void` methods as tests, without an annotation.
    test_mark=re.compile(rb'\bvoid\b|@(?!Override\b)'),
)


# Members are not a compilation unit; the grammar needs a type around them.
_BEFORE, _AFTER = b'class _ {\n', b'\n}'


@lru_cache(maxsize=1024)
def list_words(source: str) -> tuple[Word, ...]:
    """Return the tokens of a declaration as words with their positions and kinds, in order.

    `source` is the declaration alone. Comments are left out.
    """
    content = source.encode('utf-8', 'replace')
    whole = _BEFORE + content + _AFTER
    tokens = JavaTokens(Parser(JAVA).parse(whole).root_node, whole)
    inner = tokens.slice_spans([(len(_BEFORE), len(_BEFORE) + len(content))]).tokens
    return tuple(_make_words(inner, whole))


def _make_words(tokens: tuple[JavaToken, ...], whole: bytes) -> Iterator[Word]:
    starts = [0] + [i + 1 for i, byte in enumerate(whole) if byte == 0x0A]
    kinds = ['', *(token.text for token in tokens), '']
    for number, token in enumerate(tokens):
        line = bisect_right(starts, token.start) - 1
        column = len(whole[starts[line] : token.start].decode(errors='replace'))
        part = _classify_part(token.kind, kinds[number], kinds[number + 2])
        yield Word(token.text, part, line - 1, column)


def _classify_part(kind: str, before: str, after: str) -> DeclarationPart:
    if kind not in _IDENTIFIERS:
        return DeclarationPart.REST
    if kind == 'type_identifier' or before == '@':
        return DeclarationPart.TYPE
    if after == '(' or before == '::':
        return DeclarationPart.CALL
    return DeclarationPart.MEMBER if before == '.' else DeclarationPart.PLAIN
