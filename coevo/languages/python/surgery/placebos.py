"""Insert Python statements and comments without effect.

Implements `coevo.languages.measures.PlaceboInsertion`. A statement is a call of a string method. It
binds no name, so that listings of names do not change, and it is not folded away, so that the code
and the constants of its function change.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tree_sitter import Node, Parser

from coevo.languages.measures import (
    LocatedDeclaration,
    PlaceboKind,
    choose_line_breaks,
    invent_word,
)
from coevo.languages.python.reading.statements import is_text_statement
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.text_edits import find_indentation

_BLOCKS = ('block', 'module')
_DEFINITIONS = ('class_definition', 'function_definition')

# Only simple statements: a compound statement cannot follow another one on its line.
_SIMPLE = frozenset(
    {
        'assert_statement',
        'break_statement',
        'continue_statement',
        'delete_statement',
        'expression_statement',
        'import_from_statement',
        'import_statement',
        'pass_statement',
        'raise_statement',
        'return_statement',
    }
)

_CALLS = (b'count', b'endswith', b'find', b'partition', b'rfind', b'split', b'startswith', b'strip')


def choose_insertion(
    declared: LocatedDeclaration, kind: PlaceboKind, draw: Random
) -> tuple[int, bytes]:
    """Choose by `draw` where to put a placebo in a declaration; return the offset and the text.

    It is a statement before another one or, where there is no place for any, a comment.

    kind  whether the placebo adds lines
    """
    node = _find_node(declared)
    lines = choose_line_breaks(kind, draw)
    if places := list(_find_statement_offsets(node, is_whole=declared.member is not None)):
        return draw.choice(places), _make_statement(draw, lines)
    if lines:
        margin = find_indentation(declared.source, node.start_byte)
        return node.start_byte, b'# %b%b%b' % (invent_word(draw), lines, margin)
    return node.end_byte, b'  # %b' % invent_word(draw)


def _find_node(declared: LocatedDeclaration) -> Node:
    """Return the statement of a declaration: the outermost node with its span."""
    root = Parser(PYTHON).parse(declared.source).root_node
    what = declared.member if declared.member is not None else declared.type
    node = root.descendant_for_byte_range(what.start_byte, what.end_byte)
    assert node is not None, 'a declaration of this very source'
    while (around := node.parent) is not None and _get_span(around) == _get_span(node):
        node = around
    return node


def _get_span(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _find_statement_offsets(declaration: Node, *, is_whole: bool) -> Iterator[int]:
    """Yield the offsets at which a statement can be put: before each simple one except a docstring.

    is_whole  whether nested definitions belong to the declaration; those of a class or module do
              not
    """
    for node in _walk_inside(declaration, is_whole=is_whole):
        if node.type in _SIMPLE and not _is_leading_text(node):
            yield node.start_byte


def _walk_inside(declaration: Node, *, is_whole: bool) -> Iterator[Node]:
    # the definition below decorators
    own = declaration.child_by_field_name('definition') or declaration
    waiting = [own]
    while waiting:
        node = waiting.pop()
        yield node
        if is_whole or node == own or node.type not in _DEFINITIONS:
            waiting += reversed(node.named_children)


def _is_leading_text(node: Node) -> bool:
    """Return whether a statement is a string at the beginning of its block, its docstring."""
    parent = node.parent
    if not is_text_statement(node) or parent is None or parent.type not in _BLOCKS:
        return False
    return next((child for child in parent.named_children if child.type != 'comment'), None) == node


def _make_statement(draw: Random, lines: bytes) -> bytes:
    words = (invent_word(draw), draw.choice(_CALLS), lines, invent_word(draw))
    return b"'%b'.%b(%b'%b'); " % words
