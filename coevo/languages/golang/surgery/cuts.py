"""Pieces taken out of a Go file so that what is left is one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from coevo.languages.golang.surgery.pieces import GoOutline, GoPart, GoPiece
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits, widen_to_whole_lines


def remove_pieces(edits: TextEdits, file: GoOutline, gone: Sequence[GoPiece]) -> None:
    remove_parts(edits, file, [part for piece in gone for part in piece.parts])


def remove_parts(edits: TextEdits, file: GoOutline, taken: Collection[GoPart]) -> None:
    """Take stretches out, and the keyword of lines of which none is left."""
    left: dict[Span, int] = {}
    for piece in file.pieces:
        for part in piece.parts:
            left[part.whole] = left.get(part.whole, 0) + (part not in taken)
    for part in taken:
        if not part.is_line or not left[part.whole]:
            edits.cut_span(*include_separator(file.source, part.whole))
        else:
            edits.cut_span(*find_line_of_group(file.source, part.text))


def include_separator(source: bytes, span: Span) -> Span:
    """With the semicolon behind what shares its line with more."""
    start, end = span
    rest = source[end:]
    behind = rest[: len(rest) - len(rest.lstrip(b' \t;'))]
    return (start, end + len(behind)) if b';' in behind else span


def find_line_of_group(source: bytes, span: Span) -> Span:
    """A line between brackets, with the empty lines that it parts from one of them."""
    start, end = widen_to_whole_lines(source, *include_separator(source, span))
    before, behind = source[:start].rstrip(), source[end:].lstrip()
    if behind.startswith(b')') and b'\n' in source[len(before) : start]:
        return source.find(b'\n', len(before)) + 1, end
    if before.endswith(b'('):
        return start, max(end, source.rfind(b'\n', 0, len(source) - len(behind)) + 1)
    return start, end
