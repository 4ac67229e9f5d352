"""Stretches of a text, by the offsets of its bytes."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]
"""Bytes, the end exclusive."""

_PIECE = 256  # bytes that are looked through at once


def subtract_holes(span: Span, holes: Iterable[Span]) -> list[Span]:
    """The parts of a span that no hole covers."""
    parts = []
    start, end = span
    for first, last in sorted(holes):
        parts.append((start, first))
        start = max(start, last)
    return [*parts, (start, end)]


def find_code_end(source: bytes, at: int) -> int:
    """Where what stands before a place ends, white space aside."""
    while at:
        piece = source[max(0, at - _PIECE) : at]
        code = piece.rstrip()
        at -= len(piece) - len(code)
        if code:
            break
    return at


def begins_line(source: bytes, at: int) -> bool:
    """Whether white space alone stands before a place on its line."""
    end = find_code_end(source, at)
    return not end or source.find(b'\n', end, at) >= 0
