"""The declaring statements of a module or class, the lines that statements begin on, and whether a
function was executed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.python.reading.imports import STATEMENTS as IMPORTS
from coevo.languages.traces import ExecutedMethod

_DEFINITIONS = frozenset({'function_definition', 'class_definition', 'decorated_definition'})
_COMPOUND = frozenset(
    {'if_statement', 'try_statement', 'with_statement', 'for_statement', 'while_statement'}
)
_BETWEEN = frozenset(
    {
        *('block', 'elif_clause', 'else_clause', 'except_clause', 'except_group_clause'),
        *('finally_clause', 'ERROR'),
    }
)
_TEXTS = frozenset({'string', 'concatenated_string'})
MOST_NESTED = 50


class StatementsTooDeep(ValueError):
    """Raised when statements are nested deeper than MOST_NESTED (50)."""


def list_statements_exposing_definitions(parent: Node, depth: int = 0) -> Iterator[Node]:
    """Yield the statements of a block, in order.

    Instead of an `if`, `try`, `with` or loop that contains a definition, the statements within it
    are yielded.

    Raises:
        StatementsTooDeep
    """
    if depth > MOST_NESTED:
        raise StatementsTooDeep
    for child in parent.children:
        if child.type in _BETWEEN or (child.type in _COMPOUND and _holds_definition(child, depth)):
            yield from list_statements_exposing_definitions(child, depth + 1)
        elif child.type.endswith(('_statement', '_definition')):
            yield child


def _holds_definition(node: Node, depth: int) -> bool:
    """Return whether a statement contains a definition outside of any other function or class.

    Raises:
        StatementsTooDeep
    """
    if depth > MOST_NESTED:
        raise StatementsTooDeep
    return any(
        child.type in _DEFINITIONS
        or (child.type in _BETWEEN | _COMPOUND and _holds_definition(child, depth + 1))
        for child in node.children
    )


def is_text_statement(statement: Node) -> bool:
    """Return whether a statement is a string alone, as a docstring is."""
    return (
        statement.type == 'expression_statement'
        and statement.child_count == 1
        and statement.children[0].type in _TEXTS
    )


def get_definition(node: Node) -> Node:
    """Return the function or class of a decorated statement; any other node unchanged."""
    inner = node.child_by_field_name('definition') if node.type == 'decorated_definition' else None
    return inner or node


def find_all_import_statements(root: Node) -> list[Node]:
    """Return all import statements of a file, in order, also those within functions."""
    statements, cursor = [], root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type in IMPORTS:
            statements.append(node)
        elif _may_hold_statements(node.type) and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return statements


def _may_hold_statements(kind: str) -> bool:
    return (
        kind in _BETWEEN
        or kind in ('module', 'match_statement', 'case_clause')
        or kind in _DEFINITIONS
        or kind in _COMPOUND
    )


def is_part_of(executed_method: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Return whether an executed function is the given member or lies inside it, by its lines.

    Without a member the whole type is compared: a module contains every function of its file, a
    class those within its lines. The code of a function begins at its first decorator, and so does
    the declaration. Nested functions, lambdas and, before 3.12, comprehensions are functions of
    their own within it. False if the lines of the function are unknown.
    """
    whole = member or type_
    if not executed_method.first_line:
        return False
    return (
        whole.start_line <= executed_method.first_line
        and executed_method.last_line <= whole.end_line
    )
