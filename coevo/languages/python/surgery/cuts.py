"""Pieces taken out of a Python file so that what is left is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from coevo.languages.python.surgery.pieces import PythonOutline, PythonPiece
from coevo.languages.python.surgery.suites import find_emptied_suites
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits, find_indentation, widen_to_whole_lines


def remove_pieces(
    edits: TextEdits,
    file: PythonOutline,
    gone: Sequence[PythonPiece],
    may_go: Callable[[str], bool],
) -> None:
    """Take pieces out, and what is left empty by that; an emptied class stays if it has to.

    may_go  whether a class may go that has nothing left, by its name
    """
    imports = [piece for piece in gone if piece.kind == 'import']
    others = [piece for piece in gone if piece.kind != 'import']
    _remove_imports(edits, file, imports)
    emptied_suites = find_emptied_suites(file.root, [piece.statement for piece in others], may_go)
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
    """Statements of which every name goes, and of others the names."""
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
    """Each name that goes up to the next one; behind the last that stays all from its end."""
    last = max(piece.end for piece in kept)
    behind = [piece for piece in pieces if piece.start > last]
    if behind:
        yield last, behind[-1].end
    for piece, following in pairwise(pieces):
        if piece not in kept and piece.start < last:
            yield piece.start, following.start


def _extend_over_separator(source: bytes, span: Span) -> Span:
    """With the semicolon behind a statement, or before the last of its line."""
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
    """With the empty lines above what ends a suite: those below it are the wider ones."""
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
