"""What becomes of a suite of which every statement goes: its class or condition goes, too, or it passes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from tree_sitter import Node

from coevo.languages.python.reading.statements import get_definition
from coevo.languages.spans import Span

_CLAUSES = frozenset({'elif_clause', 'else_clause', 'except_clause', 'finally_clause'})


@dataclass(slots=True)
class EmptiedSuites:
    """statements go as a whole; a `pass` is put in the place of each of the blocks."""

    statements: list[Span] = field(default_factory=list)
    blocks: list[Span] = field(default_factory=list)


def find_emptied_suites(
    root: Node, gone: Collection[Span], may_go: Callable[[str], bool]
) -> EmptiedSuites:
    """The suites of which only what is gone was left.

    gone    statements that go
    may_go  whether a class may go that has nothing left, by its name
    """
    result = EmptiedSuites()
    _PythonSuiteWalker(gone, may_go, result).count_statements(root)
    return result


class _PythonSuiteWalker:
    def __init__(
        self, gone: Collection[Span], may_go: Callable[[str], bool], found: EmptiedSuites
    ) -> None:
        self._gone = frozenset(gone)
        self._may_go = may_go
        self._found = found

    def count_statements(self, block: Node) -> tuple[int, int]:
        """How many statements of a block stay, and how many go; what only fills it is neither."""
        stay = [self._stays(child) for child in block.named_children if not _is_filler(child)]
        return sum(stay), len(stay) - sum(stay)

    def _stays(self, statement: Node) -> bool:
        span = (statement.start_byte, statement.end_byte)
        if span in self._gone:
            return False
        node = get_definition(statement)
        if node.type == 'function_definition' or not self._holds_removed_statement(span):
            return True
        blocks = [
            child
            for part in (node, *(c for c in node.children if c.type in _CLAUSES))
            for child in part.children
            if child.type == 'block'
        ]
        counts = [self.count_statements(block) for block in blocks]
        empty = [
            block for block, (left, went) in zip(blocks, counts, strict=True) if went and not left
        ]
        if empty and len(blocks) == 1 and self._may_be_removed(node):
            self._found.statements.append(span)
            return False
        self._found.blocks += [
            (block.start_byte, block.end_byte)
            for block in empty
            if not any(_is_filler(c) and c.type != 'comment' for c in block.named_children)
        ]
        return True

    def _holds_removed_statement(self, span: Span) -> bool:
        return any(span[0] <= start and end <= span[1] for start, end in self._gone)

    def _may_be_removed(self, node: Node) -> bool:
        if node.type != 'class_definition':
            return True
        name = node.child_by_field_name('name')
        return name is not None and self._may_go((name.text or b'').decode(errors='replace'))


def _is_filler(node: Node) -> bool:
    """Whether a suite of nothing else does nothing: a comment, `pass`, a docstring."""
    if node.type == 'expression_statement' and node.named_child_count == 1:
        return node.named_children[0].type in ('string', 'concatenated_string')
    return node.type in ('comment', 'pass_statement')
