"""Bounds how deeply the brackets of a text may be nested, far above hand-written code.

A file beyond it is `unreadable`. Compilers recurse at each bracket. javac's time grows with the
cube of the depth of nested classes, so a file of 20 kB can take it an hour.
"""

from __future__ import annotations

from collections.abc import Iterable

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
