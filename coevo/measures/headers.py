"""Where the header of a type lies in its file: all of it but members and nested types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages.java.reading.syntax import JavaType
from coevo.languages.java.reading.tokens import JAVA


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Byte offsets in the file.

    name       the type's simple name
    body       its opening brace
    constants  from the first to the last constant of an enum; None where there is none
    """

    start: int
    name: tuple[int, int]
    body: int
    constants: tuple[int, int] | None


def header_of(source: bytes, type_: JavaType) -> Header | None:
    """The header of a type that was parsed of a source; None where it has no name or no body."""
    node = _nodes(source).get((type_.start_byte, type_.end_byte))
    name = node.child_by_field_name('name') if node is not None else None
    body = node.child_by_field_name('body') if node is not None else None
    if node is None or name is None or body is None:
        return None
    constants = [child for child in body.children if child.type == 'enum_constant']
    return Header(
        start=node.start_byte,
        name=(name.start_byte, name.end_byte),
        body=body.start_byte,
        constants=(constants[0].start_byte, constants[-1].end_byte) if constants else None,
    )


@lru_cache(maxsize=64)
def _nodes(source: bytes) -> dict[tuple[int, int], Node]:
    """The declarations of types by their spans."""
    found: dict[tuple[int, int], Node] = {}
    waiting = [Parser(JAVA).parse(source).root_node]
    while waiting:
        node = waiting.pop()
        if node.child_by_field_name('body') is not None:
            found.setdefault((node.start_byte, node.end_byte), node)
        waiting += node.children
    return found
