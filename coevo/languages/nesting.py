"""How deep the brackets of a text lie in each other; whoever writes by hand stays far below the bound.

A file beyond it is `unreadable`. Compilers recurse at each bracket, and javac takes the cube of the number of
classes in classes, so that a file of 20 kB costs it an hour.
"""

from __future__ import annotations

from collections.abc import Iterable

# The deepest files that were seen have some forty. No class of more than 127 classes in each other has a
# name that a file can have.
MOST_OPEN = 200

_NO_BRACKETS = bytes(set(range(256)) - set(b'()[]{}'))

_STEPS = {'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}


def is_nested_too_deep(texts: Iterable[str]) -> bool:
    """Whether among the tokens of a text more brackets are open at once than we read."""
    depth = 0
    for text in texts:
        step = _STEPS.get(text)
        if step is not None:
            depth = max(0, depth + step)
            if depth > MOST_OPEN:
                return True
    return False


def may_nest_deeper(content: bytes, most: int) -> bool:
    """Whether more brackets may be open at once, those in comments and strings counted as well; told fast."""
    left = content.translate(None, _NO_BRACKETS)
    for _ in range(most):
        shorter = left.replace(b'()', b'').replace(b'[]', b'').replace(b'{}', b'')
        if len(shorter) in (0, len(left)):
            break
        left = shorter
    return len(left) > most
