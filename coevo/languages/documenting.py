"""Finds the lines of a source that only document it and have no effect when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node


def find_documenting_lines(
    source: bytes, root: Node, documents: Callable[[Node], bool]
) -> frozenset[int]:
    """Return the 1-based lines that are filled by nodes for which `documents` returns True.

    A line that also contains code does not count.
    """
    lines: set[int] = set()
    for node in _find_documenting_nodes(root, documents):
        if _fills_whole_lines(source, node):
            lines |= set(range(node.start_point.row + 1, node.end_point.row + 2))
    return frozenset(lines)


def is_comment(node: Node) -> bool:
    """Return whether a node is a comment, in the grammars of all supported languages."""
    return node.type.endswith('comment')


def _find_documenting_nodes(root: Node, documents: Callable[[Node], bool]) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if documents(node):
            yield node
        else:
            waiting += node.named_children


def _fills_whole_lines(source: bytes, node: Node) -> bool:
    before = source[source.rfind(b'\n', 0, node.start_byte) + 1 : node.start_byte]
    after = source[node.end_byte :].partition(b'\n')[0]
    return not before.strip() and not after.strip()
