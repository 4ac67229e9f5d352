"""The names that a statement of a module or class gives values to."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.python.reading.imports import STATEMENTS as IMPORTS
from coevo.languages.python.reading.imports import imported
from coevo.languages.python.reading.statements import import_statements
from coevo.languages.python.reading.tokens import PythonSlice

_PATTERNS = frozenset({'pattern_list', 'tuple_pattern', 'list_pattern', 'list_splat_pattern'})


def variables(statement: Node, source: bytes, found: PythonSlice) -> tuple[str, ...]:
    """In order, each once; of a compound statement all that is bound in it, imports among them."""
    if statement.type == 'type_alias_statement':
        return tuple(sorted(found.names - found.calls))[:1] or tuple(sorted(found.names))[:1]
    if statement.type == 'expression_statement':
        names = [name for node in statement.named_children for name in _targets(node, source)]
    else:
        nodes = [node for node in import_statements(statement) if node.type in IMPORTS]
        names = [one.bound for node in nodes for one in imported(node, source)]
        names += sorted(found.bound)
    return tuple(dict.fromkeys(names))


def _targets(statement: Node, source: bytes) -> Iterator[str]:
    node: Node | None = statement
    if statement.type == 'augmented_assignment':
        yield from _names(statement.child_by_field_name('left'), source)
        node = statement.child_by_field_name('right')
    while node is not None and node.type == 'assignment':
        yield from _names(node.child_by_field_name('left'), source)
        node = node.child_by_field_name('right')


def _names(target: Node | None, source: bytes) -> Iterator[str]:
    if target is None:
        return
    if target.type == 'identifier':
        yield source[target.start_byte : target.end_byte].decode(errors='replace')
    elif target.type in _PATTERNS:
        for child in target.named_children:
            yield from _names(child, source)
