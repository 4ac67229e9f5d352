"""Test smells in the statements of a test, as PyNose (ASE 2021) defines them.

Differences are stated at each smell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.python.smells.source import (
    PythonTest,
    get_text,
    list_decorators,
    walk_descendants,
)

_CONTROL = frozenset(
    {
        *('if_statement', 'for_statement', 'while_statement', 'list_comprehension'),
        *('set_comprehension', 'dictionary_comprehension', 'generator_expression'),
    }
)
_HANDLING = frozenset({'except_clause', 'except_group_clause', 'raise_statement'})
_PATTERNS = frozenset({'pattern_list', 'tuple_pattern', 'list_pattern'})
_MOST_VARIABLES = 10
_SLEEP_IMPORTED = re.compile(rb'(?m)^\s*from\s+time\s+import\s[^#\n]*\bsleep\b(?!\s+as)')
_SKIPS = re.compile(r'(unittest\.|pytest\.mark\.)?skip(if|If|Unless)?\b')


def is_conditional_test_logic(test: PythonTest) -> bool:
    """Return whether the test has an `if`, a loop or a comprehension."""
    return any(node.type in _CONTROL for node in walk_descendants(test.body))


def is_empty_test(test: PythonTest) -> bool:
    """Return whether the body of the test has nothing but `pass`, `...` and strings.

    For PyNose it must have only `pass`.
    """
    statements = [node for node in test.body.named_children if node.type != 'comment']
    return all(node.type == 'pass_statement' or _says_nothing(node) for node in statements)


def is_exception_handling(test: PythonTest) -> bool:
    """Return whether the test has an `except` clause or a `raise`.

    A `try` with only a `finally` handles no exception.
    """
    return any(node.type in _HANDLING for node in walk_descendants(test.body))


def is_ignored_test(test: PythonTest) -> bool:
    """Return whether a decorator skips the test, conditionally or always.

    Here pytest's decorators and those of the class also count.
    """
    every = [*list_decorators(test.function)]
    if test.owner is not None:
        every += list_decorators(test.owner)
    return any(_SKIPS.match(decorator) for decorator in every)


def is_obscure_in_line_setup(test: PythonTest) -> bool:
    """Return whether the test assigns more than ten local variables."""
    return len({get_text(node) for node in _find_assigned_names(test.body)}) > _MOST_VARIABLES


def is_redundant_print(test: PythonTest) -> bool:
    """Return whether the test calls `print`."""
    return any(get_text(node) == 'print' for node in _find_callees(test))


def is_sleepy_test(test: PythonTest) -> bool:
    """Return whether the test calls `time.sleep` without a comment on the same line."""
    names = {'time.sleep'}
    if test.root.text is not None and _SLEEP_IMPORTED.search(test.root.text):
        names.add('sleep')
    rows = {node.start_point.row for node in walk_descendants(test.body) if node.type == 'comment'}
    return any(
        get_text(node) in names and node.end_point.row not in rows for node in _find_callees(test)
    )


def _says_nothing(node: Node) -> bool:
    if node.type != 'expression_statement':
        return False
    return all(
        child.type in ('string', 'concatenated_string', 'ellipsis') for child in node.children
    )


def _find_callees(test: PythonTest) -> Iterator[Node]:
    for node in walk_descendants(test.body):
        function = node.child_by_field_name('function') if node.type == 'call' else None
        if function is not None:
            yield function


def _find_assigned_names(body: Node) -> Iterator[Node]:
    for node in walk_descendants(body):
        left = node.child_by_field_name('left') if node.type == 'assignment' else None
        todo = [left] if left is not None else []
        while todo:
            target = todo.pop()
            if target.type == 'identifier':
                yield target
            elif target.type in _PATTERNS:
                todo += target.named_children
