"""Remove pieces from a Python file so that the rest stays valid, and re-indent pieces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from tree_sitter import Node

from coevo.languages.python.reading.statements import get_definition
from coevo.languages.python.surgery.pieces import PythonOutline, PythonPiece
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits, find_indentation, widen_to_whole_lines


def remove_pieces(
    edits: TextEdits,
    file: PythonOutline,
    gone: Sequence[PythonPiece],
    may_remove_class: Callable[[str], bool],
) -> None:
    """Record the edits that remove pieces from a file so that it stays valid.

    Statements and classes that become empty are removed, too; a class that has to stay gets a
    `pass`.

    gone    the pieces to remove
    may_go  whether an emptied class of this simple name may be removed
    """
    imports = [piece for piece in gone if piece.kind == 'import']
    others = [piece for piece in gone if piece.kind != 'import']
    _remove_imports(edits, file, imports)
    emptied_suites = find_emptied_suites(
        file.root, [piece.statement for piece in others], may_remove_class
    )
    for start, end in emptied_suites.blocks:
        edits.replace(start, end, b'pass')
    spans = [piece.span for piece in others]
    for span in (*spans, *map(file.extend_over_comments, emptied_suites.statements)):
        if not any(_is_within(span, other) for other in emptied_suites.blocks):
            edits.cut_span(
                *_extend_over_gap(file.source, _extend_over_separator(file.source, span))
            )


def _is_within(span: Span, other: Span) -> bool:
    return other[0] <= span[1] - 1 < other[1]


def _remove_imports(edits: TextEdits, file: PythonOutline, gone: Sequence[PythonPiece]) -> None:
    """Record the edits that remove imported names, and statements of which no name is left."""
    all_ = groupby(file.list_import_pieces(), key=lambda piece: piece.statement)
    names = {piece.span for piece in gone}
    for statement, group in all_:
        pieces = list(group)
        remaining = [piece for piece in pieces if piece.span not in names]
        if not remaining:
            span = file.extend_over_comments(statement)
            edits.cut_span(*_extend_over_separator(file.source, span))
        elif len(remaining) < len(pieces):
            for start, end in _find_names_to_cut(pieces, remaining):
                edits.replace(start, end, b'')


def _find_names_to_cut(
    pieces: Sequence[PythonPiece], kept: Iterable[PythonPiece]
) -> Iterator[Span]:
    """Yield the spans to cut from an import statement, of which some names are kept.

    A removed name is cut up to the next name. All names after the last kept one are one span, with
    the comma before them.
    """
    last = max(piece.end for piece in kept)
    behind = [piece for piece in pieces if piece.start > last]
    if behind:
        yield last, behind[-1].end
    for piece, following in pairwise(pieces):
        if piece not in kept and piece.start < last:
            yield piece.start, following.start


def _extend_over_separator(source: bytes, span: Span) -> Span:
    """Return the span of a statement with the semicolon that its removal makes superfluous.

    This is the one after it or, for the last statement of a line, the one before it. Without any,
    the span is unchanged.
    """
    start, end = span
    rest = source[end:]
    behind = rest[: len(rest) - len(rest.lstrip(b' \t;'))]
    if b';' in behind and not rest[len(behind) :].startswith((b'\n', b'\r', b'#')):
        return start, end + len(behind)
    before = source[:start].rstrip(b' \t')
    if before.endswith(b';'):
        return len(before.rstrip(b' \t;')), end + (len(behind) if b';' in behind else 0)
    return (start, end + len(behind)) if b';' in behind else span


def _extend_over_gap(source: bytes, span: Span) -> Span:
    """Return the span of the last statement of a suite with the empty lines above it.

    The empty lines below it separate the outer statements and are kept. For any other statement the
    span is unchanged.
    """
    start, end = widen_to_whole_lines(source, *span)
    if start == span[0] and source[start - 1 : start] not in (b'\n', b''):
        return span
    margin = len(find_indentation(source, span[0]))
    rest = source[end:].lstrip(b'\r\n')
    following = len(rest) - len(rest.lstrip(b' \t'))
    gaps = source[end : end + 1] in (b'\n', b'\r')
    if not rest or following >= margin or not gaps:
        return span
    above = source[:start].rstrip()
    line = source.find(b'\n', len(above))
    return (line + 1, span[1]) if 0 <= line + 1 < start else span


_CLAUSES = frozenset({'elif_clause', 'else_clause', 'except_clause', 'finally_clause'})


@dataclass(slots=True)
class EmptiedSuites:
    """Spans that a removal has to treat beyond the removed statements.

    statements  the spans of emptied statements, such as classes, which are removed, too
    blocks      the spans of emptied blocks whose statement stays; each becomes `pass`
    """

    statements: list[Span] = field(default_factory=list)
    blocks: list[Span] = field(default_factory=list)


def find_emptied_suites(
    root: Node, gone: Collection[Span], may_remove_class: Callable[[str], bool]
) -> EmptiedSuites:
    """Return the suites from which a removal would take all statements but docstrings and `pass`.

    gone    the statements to remove
    may_go  whether an emptied class of this simple name may be removed
    """
    result = EmptiedSuites()
    _PythonSuiteWalker(gone, may_remove_class, result).count_kept_and_removed(root)
    return result


class _PythonSuiteWalker:
    def __init__(
        self, gone: Collection[Span], may_go: Callable[[str], bool], found: EmptiedSuites
    ) -> None:
        self._gone = frozenset(gone)
        self._may_go = may_go
        self._found = found

    def count_kept_and_removed(self, block: Node) -> tuple[int, int]:
        """Return how many statements of a block stay and how many go.

        Comments, docstrings and `pass` are not counted. Emptied suites inside the block are
        recorded.
        """
        stay = [self._stays(child) for child in block.named_children if not _is_filler(child)]
        return sum(stay), len(stay) - sum(stay)

    def _stays(self, statement: Node) -> bool:
        span = (statement.start_byte, statement.end_byte)
        if span in self._gone:
            return False
        node = get_definition(statement)
        if node.type == 'function_definition' or not self._holds_removed_statement(span):
            return True
        blocks = [
            child
            for part in (node, *(c for c in node.children if c.type in _CLAUSES))
            for child in part.children
            if child.type == 'block'
        ]
        counts = [self.count_kept_and_removed(block) for block in blocks]
        empty = [
            block for block, (left, went) in zip(blocks, counts, strict=True) if went and not left
        ]
        if empty and len(blocks) == 1 and self._may_be_removed(node):
            self._found.statements.append(span)
            return False
        self._found.blocks += [
            (block.start_byte, block.end_byte)
            for block in empty
            if not any(_is_filler(c) and c.type != 'comment' for c in block.named_children)
        ]
        return True

    def _holds_removed_statement(self, span: Span) -> bool:
        return any(span[0] <= start and end <= span[1] for start, end in self._gone)

    def _may_be_removed(self, node: Node) -> bool:
        if node.type != 'class_definition':
            return True
        name = node.child_by_field_name('name')
        return name is not None and self._may_go((name.text or b'').decode(errors='replace'))


def _is_filler(node: Node) -> bool:
    """Return whether a statement has no effect in a suite: a comment, `pass`, or a docstring."""
    if node.type == 'expression_statement' and node.named_child_count == 1:
        return node.named_children[0].type in ('string', 'concatenated_string')
    return node.type in ('comment', 'pass_statement')


def reindent(
    text: bytes, before: bytes, after: bytes, start: int, strings: Iterable[Span]
) -> bytes:
    """Return a text with the indentation `before` of all lines but the first replaced by `after`.

    Lines inside strings, and lines that are not so indented, are unchanged.

    start    the offset of the text in its file
    strings  the spans of the strings of that file that have several lines
    """
    if before == after:
        return text
    string_spans = list(strings)
    lines, at = [], start
    for number, line in enumerate(text.splitlines(keepends=True)):
        inner = any(first < at < last for first, last in string_spans)
        if number and not inner and line.startswith(before) and line.strip():
            line = after + line[len(before) :]
        lines.append(line)
        at += len(line)
    return b''.join(lines)


def find_multiline_strings(root: Node) -> Iterator[Span]:
    """Yield the spans of the strings of a file that have several lines."""
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type == 'string' and node.start_point.row != node.end_point.row:
            yield node.start_byte, node.end_byte
        elif cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def count_empty_lines_above(source: bytes, at: int) -> int:
    """Return how many empty lines are directly above the line of an offset, at most two."""
    above = source[: source.rfind(b'\n', 0, at) + 1].replace(b'\r', b'')
    lines = above.split(b'\n')[:-1]
    count = 0
    while count < 2 and count < len(lines) and not lines[-1 - count].strip():
        count += 1
    return count
