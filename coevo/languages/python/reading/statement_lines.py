"""Map lines to the first line of their statement, as coverage.py counts them.

For example, a condition in parentheses over several lines is one line, its first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator

from tree_sitter import Parser

from coevo.languages.python.reading.tokens import PYTHON

_HOLDS = frozenset(
    {
        *('module', 'block', 'decorated_definition', 'function_definition', 'class_definition'),
        *('if_statement', 'elif_clause', 'else_clause', 'for_statement', 'while_statement'),
        *('try_statement', 'except_clause', 'except_group_clause', 'finally_clause'),
        *('with_statement', 'match_statement', 'case_clause', 'ERROR'),
    }
)
_BEGINS = ('_statement', '_definition', '_clause', 'decorator')


def add_first_lines(lines: Collection[int], source: bytes) -> frozenset[int]:
    """Return the lines together with the first line of the innermost statement that contains each.

    A line of a compound statement's head counts as the first line of this head.
    """
    begins = sorted({0, *_find_beginnings(source)})
    first = {begins[bisect_right(begins, line) - 1] for line in lines}
    return frozenset(lines) | (first - {0})


def _find_beginnings(source: bytes) -> Iterator[int]:
    cursor = Parser(PYTHON).parse(source).walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type.endswith(_BEGINS):
            yield node.start_point.row + 1
        if node.type in _HOLDS and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
