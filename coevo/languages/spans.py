"""Stretches of a text, by the offsets of its bytes."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]
"""Bytes, the end exclusive."""


def outside(span: Span, holes: Iterable[Span]) -> list[Span]:
    """The parts of a span that no hole covers."""
    parts = []
    start, end = span
    for first, last in sorted(holes):
        parts.append((start, first))
        start = max(start, last)
    return [*parts, (start, end)]
