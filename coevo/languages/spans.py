"""Spans of a text, as byte offsets."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]
"""Start and exclusive end, in bytes."""

_PIECE = 256  # bytes that are searched at once


def subtract_holes(span: Span, holes: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that no hole covers."""
    parts = []
    start, end = span
    for first, last in sorted(holes):
        parts.append((start, first))
        start = max(start, last)
    return [*parts, (start, end)]


def find_code_end(source: bytes, at: int) -> int:
    """Return the end of the last text before an offset that is not white space."""
    while at:
        piece = source[max(0, at - _PIECE) : at]
        code = piece.rstrip()
        at -= len(piece) - len(code)
        if code:
            break
    return at


def begins_line(source: bytes, at: int) -> bool:
    """Return whether there is only white space before an offset on its line."""
    end = find_code_end(source, at)
    return not end or source.find(b'\n', end, at) >= 0
