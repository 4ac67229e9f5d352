"""Mutants of Python, none of what documents it."""

from __future__ import annotations

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages import documenting
from coevo.languages.documenting import is_comment
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.universal_mutator import UniversalMutator

_TEXTS = frozenset({'string', 'concatenated_string'})


def documenting_lines(source: bytes) -> frozenset[int]:
    """Of comments, and of statements that are texts."""
    root = Parser(PYTHON).parse(source).root_node
    return documenting.documenting_lines(source, root, _documents)


def _documents(node: Node) -> bool:
    is_text = node.type == 'expression_statement' and node.children[0].type in _TEXTS
    return is_comment(node) or (is_text and node.child_count == 1)


MUTATION = UniversalMutator(suffix='.py', documenting=documenting_lines)
