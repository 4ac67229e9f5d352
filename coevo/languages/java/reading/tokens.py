"""The tokens of a Java file in order, blind to comments and white space, and slices of them."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import tree_sitter_java
from tree_sitter import Language, Node

from coevo.languages.grammars import list_fixed_node_kinds
from coevo.languages.spans import Span

JAVA = Language(tree_sitter_java.language())
_FIXED = list_fixed_node_kinds(JAVA)
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


# What neighbouring revisions of a file mostly share, and longest of it that is kept, in bytes.
_SHARED = frozenset({'method_declaration', 'constructor_declaration'})
_LONGEST = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaToken:
    start: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class _JavaLeaves:
    """The tokens below a node in columns, its comments, and what it calls; all by their offsets."""

    starts: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    calls: list[tuple[int, str]] = field(default_factory=list)

    def add_shifted(self, other: _JavaLeaves, at: int) -> None:
        """Those of a node that begins at an offset."""
        self.starts.extend([start + at for start in other.starts])
        self.texts.extend(other.texts)
        self.kinds.extend(other.kinds)
        self.comments.extend([(start + at, end + at) for start, end in other.comments])
        self.calls.extend([(start + at, name) for start, name in other.calls])


@dataclass(slots=True)
class _CachedJavaLeaves:
    leaves: _JavaLeaves | None = None


class JavaTokens:
    """All tokens of a file; `slice_spans` gives those of some spans. Text blocks are unindented.

    `comments` are the spans of comments in their order. All is found in one pass: a query of
    tree-sitter takes the square of the number of brackets that nobody closes.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        # Where a parser recovers, it reads words otherwise.
        self._leaves = _collect_leaves(root, source, root.start_byte, shares=not root.has_error)
        self.comments = self._leaves.comments
        self._calls = sorted(self._leaves.calls)
        self._call_starts = [start for start, _ in self._calls]

    @property
    def texts(self) -> Sequence[str]:
        """All of them, in order."""
        return self._leaves.texts

    def slice_spans(self, spans: Iterable[Span]) -> JavaSlice:
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
    """What stands below a node, by offsets from a base; declarations that were read are not again."""
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
    """Whether what a node of a file without errors says is kept for other files that have it."""
    return kind in _SHARED and node.end_byte - node.start_byte <= _LONGEST


def _get_shared_leaves(node: Node, kind: str, source: bytes) -> _JavaLeaves:
    cached = _get_cached_leaves(kind, source[node.start_byte : node.end_byte])
    if cached.leaves is None:
        cached.leaves = _collect_leaves(node, source, node.start_byte, shares=False)
    return cached.leaves


@lru_cache(maxsize=1 << 14)
def _get_cached_leaves(kind: str, text: bytes) -> _CachedJavaLeaves:
    """Where to keep what stands below a node of a kind, which its text alone tells."""
    return _CachedJavaLeaves()


@dataclass(frozen=True, kw_only=True)
class JavaSlice:
    """The tokens of a declaration in columns, and what they name."""

    starts: tuple[int, ...]
    texts: tuple[str, ...]
    kinds: tuple[str, ...]
    calls: frozenset[str]

    @property
    def tokens(self) -> tuple[JavaToken, ...]:
        columns = zip(self.starts, self.texts, self.kinds, strict=True)
        return tuple(JavaToken(start=start, text=text, kind=kind) for start, text, kind in columns)

    @property
    def types(self) -> frozenset[str]:
        return frozenset(
            [t for t, kind in zip(self.texts, self.kinds, strict=True) if kind == 'type_identifier']
        )

    @property
    def names(self) -> frozenset[str]:
        return frozenset(
            [t for t, kind in zip(self.texts, self.kinds, strict=True) if kind in _IDENTIFIERS]
        )

    @property
    def strings(self) -> frozenset[str]:
        return frozenset(
            _unquote(text)
            for text, kind in zip(self.texts, self.kinds, strict=True)
            if kind == 'string_literal'
        )

    def replace_own_names(self, name: str, simple: str) -> tuple[str, ...]:
        """The texts with a declaration's own name and its class's replaced by placeholders.

        Behind a dot the name is most often that of what a test tests, not its own.
        """
        bare, before = [], ''
        for text in self.texts:
            own = text == name and before not in ('.', '::')
            bare.append(_NAME if own else _TYPE if text == simple else text)
            before = text
        return tuple(bare)


def _find_invoked_names(node: Node, kind: str, source: bytes) -> Iterator[tuple[int, str]]:
    """Where a node names what it invokes, and its simple name."""
    field = _INVOKING[kind]
    target = node.child_by_field_name(field) if field else _find_reference_target(node)
    if target is None or (kind == 'method_invocation' and target.type != 'identifier'):
        return
    name = source[target.start_byte : target.end_byte].decode(errors='replace')
    yield (target if field else node).start_byte, erase_type_name(name)


def _find_reference_target(reference: Node) -> Node:
    """What a method reference names: the method, or the type for `Type::new`."""
    last = reference.children[-1]
    return reference.children[0] if last.type == 'new' else last


def erase_type_name(name: str) -> str:
    """The simple name of a type as written: without type arguments, package and annotations."""
    words = name.partition('<')[0].split()  # none in code with errors
    return words[-1].rpartition('.')[2] if words else ''


def _unquote(literal: str) -> str:
    quotes = 3 if literal.startswith('"""') else 1
    return literal[quotes:-quotes]


def _unindent_text_block(block: str) -> str:
    """The content of a text block without incidental white space (JLS 3.10.6)."""
    lines = block.partition('\n')[2].replace('\r', '').split('\n')
    significant = [line for line in lines[:-1] if line.strip()] + lines[-1:]
    margin = min(len(line) - len(line.lstrip()) for line in significant)
    return '\n'.join(line[margin:].rstrip() for line in lines)
