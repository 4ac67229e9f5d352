"""The names that a statement of a module or class gives values to."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.python.reading.imports import STATEMENTS as IMPORTS
from coevo.languages.python.reading.imports import list_imported_names
from coevo.languages.python.reading.statements import find_import_statements
from coevo.languages.python.reading.tokens import PythonSlice

_PATTERNS = frozenset({'pattern_list', 'tuple_pattern', 'list_pattern', 'list_splat_pattern'})


def list_bound_names(statement: Node, source: bytes, found: PythonSlice) -> tuple[str, ...]:
    """In order, each once; of a compound statement all that is bound in it, imports among them."""
    if statement.type == 'type_alias_statement':
        return tuple(sorted(found.names - found.calls))[:1] or tuple(sorted(found.names))[:1]
    if statement.type == 'expression_statement':
        names = [
            name for node in statement.named_children for name in _list_target_names(node, source)
        ]
    else:
        nodes = [node for node in find_import_statements(statement) if node.type in IMPORTS]
        names = [
            imported_name.bound
            for node in nodes
            for imported_name in list_imported_names(node, source)
        ]
        names += sorted(found.bound)
    return tuple(dict.fromkeys(names))


def _list_target_names(statement: Node, source: bytes) -> Iterator[str]:
    node: Node | None = statement
    if statement.type == 'augmented_assignment':
        yield from _list_pattern_names(statement.child_by_field_name('left'), source)
        node = statement.child_by_field_name('right')
    while node is not None and node.type == 'assignment':
        yield from _list_pattern_names(node.child_by_field_name('left'), source)
        node = node.child_by_field_name('right')


def _list_pattern_names(target: Node | None, source: bytes) -> Iterator[str]:
    if target is None:
        return
    if target.type == 'identifier':
        yield source[target.start_byte : target.end_byte].decode(errors='replace')
    elif target.type in _PATTERNS:
        for child in target.named_children:
            yield from _list_pattern_names(child, source)
