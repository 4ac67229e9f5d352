"""Spans of a text as byte offsets, and a bound on how deeply its brackets are nested."""

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


# Bounds how deeply the brackets of a text may be nested, far above hand-written code.
#
# A file beyond it is `unreadable`. Compilers recurse at each bracket. javac's time grows with the
# cube of the depth of nested classes, so a file of 20 kB can take it an hour.

# The deepest files found so far have some forty open brackets. Classes nested more than 127 deep
# have names that are too long for a file.
MOST_OPEN = 200

_NO_BRACKETS = bytes(set(range(256)) - set(b'()[]{}'))

_STEPS = {'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}


def is_nested_too_deep(texts: Iterable[str]) -> bool:
    """Return whether the tokens of a text open more than `MOST_OPEN` brackets at once.

    texts  the text of each token, in order
    """
    depth = 0
    for text in texts:
        step = _STEPS.get(text)
        if step is not None:
            depth = max(0, depth + step)
            if depth > MOST_OPEN:
                return True
    return False


def may_nest_deeper(content: bytes, most: int) -> bool:
    """Return whether more than `most` brackets may be open at once.

    A fast estimate: brackets in comments and strings count, too, so True may be wrong.
    """
    left = content.translate(None, _NO_BRACKETS)
    for _ in range(most):
        shorter = left.replace(b'()', b'').replace(b'[]', b'').replace(b'{}', b'')
        if len(shorter) in (0, len(left)):
            break
        left = shorter
    return len(left) > most
