"""Put the body of another version of a Python function into a function, where it never runs.

Implements `coevo.languages.rewriting.IdleCopying`. The copy stands in a branch that is never taken
and that the compiler keeps. What it assigns becomes local to the function, so there is a copy only
where that changes no name that the function itself uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tree_sitter import Node, Parser

from coevo.languages.measures import invent_word
from coevo.languages.python.reading.statements import is_text_statement
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.python.surgery.renaming import list_bound_names, may_inspect_locals
from coevo.languages.rewriting import Piece, PieceRole, VersionSpan, get_text, walk_named_nodes

# What would make the function another kind of function, or its names those of another scope.
_REFUSED = frozenset({'await', 'global_statement', 'nonlocal_statement', 'yield'})

# Names for which the compiler gives the function a cell.
_ADDING_A_CELL = frozenset({'__class__', 'super'})


def list_idle_copy(place: VersionSpan, copied: VersionSpan, draw: Random) -> tuple[Piece, ...]:
    """Return the pieces that put the body of one function into another; none if that is unsafe."""
    function, other = (_find_function(version) for version in (place, copied))
    if function is None or other is None or not _can_hold(function, other):
        return ()
    at, first = _find_first_statement(function), _find_first_statement(other)
    body = other.child_by_field_name('body')
    if at is None or first is None or body is None:
        return ()
    margin, own_margin = _find_margin(place.source, at), _find_margin(copied.source, first)
    if margin is None or own_margin is None:
        return ()
    inner = margin + b'    '
    lines = copied.source[first.start_byte : body.end_byte].splitlines()
    moved = [inner + line.removeprefix(own_margin) if line.strip() else b'' for line in lines]
    head = b"if '%b'.isdigit():\n" % invent_word(draw)
    text = b'%b%b\n%b' % (head, b'\n'.join(moved), margin)
    return (Piece(start=at.start_byte, end=at.start_byte, text=text, role=PieceRole.STATEMENT),)


def _find_function(version: VersionSpan) -> Node | None:
    root = Parser(PYTHON).parse(version.source).root_node
    start, end = version.span
    node = None if root.has_error else root.descendant_for_byte_range(start, end)
    while node is not None and node.type != 'function_definition':
        decorated = node.child_by_field_name('definition')
        node = decorated if decorated is not None else _get_same_span_parent(node)
    return node


def _get_same_span_parent(node: Node) -> Node | None:
    parent = node.parent
    if parent is None or (parent.start_byte, parent.end_byte) != (node.start_byte, node.end_byte):
        return None
    return parent


def _can_hold(function: Node, other: Node) -> bool:
    nodes = [*walk_named_nodes(function), *walk_named_nodes(other)]
    if any(node.type in _REFUSED for node in nodes):
        return False
    if may_inspect_locals(function) or may_inspect_locals(other):
        return False
    used, copied = (
        {get_text(node) for node in walk_named_nodes(each) if node.type == 'identifier'}
        for each in (function, other)
    )
    if _ADDING_A_CELL & (copied - used):
        return False
    return not (list_bound_names(other) - list_bound_names(function)) & used


def _find_first_statement(function: Node) -> Node | None:
    return next(_list_statements(function), None)


def _list_statements(function: Node) -> Iterator[Node]:
    """Yield the statements of a function behind its docstring."""
    body = function.child_by_field_name('body')
    statements = [] if body is None else [n for n in body.named_children if n.type != 'comment']
    has_text = bool(statements) and is_text_statement(statements[0])
    yield from statements[1:] if has_text else statements


def _find_margin(source: bytes, statement: Node) -> bytes | None:
    """Return the white space before a statement; None if it is not the first one of its line."""
    before = source[: statement.start_byte].rpartition(b'\n')[2]
    return before if not before.strip() else None
