"""Mutants of Go, none of its comments."""

from __future__ import annotations

from tree_sitter import Parser

from coevo.languages.documenting import documenting_lines
from coevo.languages.documenting import is_comment
from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.universal_mutator import UniversalMutator


def _documenting(source: bytes) -> frozenset[int]:
    return documenting_lines(source, Parser(GO).parse(source).root_node, is_comment)


MUTATION = UniversalMutator(suffix='.go', documenting=_documenting)
