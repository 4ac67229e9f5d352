"""Mutation of Python sources except comments and docstrings."""

from __future__ import annotations

from tree_sitter import Node

from coevo.languages.documenting import is_comment
from coevo.languages.python.reading.statements import is_text_statement
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.universal_mutator import UniversalMutator


def _is_documentation(node: Node) -> bool:
    return is_comment(node) or is_text_statement(node)


MUTATION = UniversalMutator(suffix='.py', grammar=PYTHON, documents=_is_documentation)
