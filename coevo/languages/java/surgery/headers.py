"""Where the header of a type lies in its file: all of it but members and nested types."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.source import parse_java_source


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeHeader:
    """Byte offsets in the file.

    name       the type's simple name
    body       its opening brace
    constants  from the first to the last constant of an enum; None where there is none
    """

    start: int
    name: tuple[int, int]
    body: int
    constants: tuple[int, int] | None


def locate_header(source: bytes, type_: DeclaredType) -> TypeHeader | None:
    """The header of a type that was parsed of a source; None where it has no name or no body."""
    node = parse_java_source(source).find_node(type_)
    name, body = node.child_by_field_name('name'), node.child_by_field_name('body')
    if name is None or body is None:
        return None
    constants = [child for child in body.children if child.type == 'enum_constant']
    return TypeHeader(
        start=node.start_byte,
        name=(name.start_byte, name.end_byte),
        body=body.start_byte,
        constants=(constants[0].start_byte, constants[-1].end_byte) if constants else None,
    )
