"""Spans of a text, as byte offsets."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]
"""Start and exclusive end, in bytes."""

_PIECE = 256  # bytes that are searched at once


def subtract_holes(span: Span, holes: Iterable[Span]) -> list[Span]:
    """Return the parts of a span between holes, in order.

    A part may be empty, or end before it begins, where holes touch, overlap or lie at an end of the
    span. Slices of such parts are empty.
    """
    parts = []
    start, end = span
    for first, last in sorted(holes):
        parts.append((start, first))
        start = max(start, last)
    return [*parts, (start, end)]


def find_code_end(source: bytes, at: int) -> int:
    """Return the offset behind the last character before `at` that is no white space, or 0."""
    while at:
        piece = source[max(0, at - _PIECE) : at]
        code = piece.rstrip()
        at -= len(piece) - len(code)
        if code:
            break
    return at


def begins_line(source: bytes, at: int) -> bool:
    """Return whether only white space stands between the start of a line and an offset on it."""
    end = find_code_end(source, at)
    return not end or source.find(b'\n', end, at) >= 0
