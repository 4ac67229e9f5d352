"""Lines that coverage.py counted before 7.10, and leaves out since then: what is for type checkers alone, and `...`.

Its list of changes: https://coverage.readthedocs.io/en/latest/changes.html, version 7.10.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator


def left_out(source: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Of a module in Python: those that run where it is loaded, and those that nothing runs."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return frozenset(), frozenset()
    run, idle = set[int](), set[int]()
    for node in ast.walk(module):
        if isinstance(node, ast.If) and _is_for_checkers(node.test):
            run.add(node.lineno)
            idle |= {one.lineno for part in node.body for one in _statements(part)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            dots = [one.lineno for one in node.body if _is_dots(one)]
            run |= {line for line in dots if line == node.lineno}
            idle |= {line for line in dots if line != node.lineno}
    return frozenset(run), frozenset(idle)


def _is_for_checkers(test: ast.expr) -> bool:
    return getattr(test, 'attr', getattr(test, 'id', '')) == 'TYPE_CHECKING'


def _is_dots(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and value.value is ...


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    return (one for one in ast.walk(node) if isinstance(one, ast.stmt))
