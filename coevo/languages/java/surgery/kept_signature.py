"""Put the old body of a method behind its new signature, or the old value of a field."""

from __future__ import annotations

from tree_sitter import Node

from coevo.languages.java.reading.source import parse_java_source
from coevo.languages.java.surgery.plain_values import (
    CONSTRUCTOR_CALL,
    find_value,
    list_parameters,
)
from coevo.languages.text_edits import replace_span
from coevo.languages.undoing import LocatedDeclaration, map_parameters


def put_old_body(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with the old body of a method, or the old value of a field.

    Parameters with new names are assigned to their old ones first. None if either end has no body
    or value, or if a parameter is gone.
    """
    assert old.member is not None
    assert new.member is not None
    before = parse_java_source(old.source).find_node(old.member)
    after = parse_java_source(new.source).find_node(new.member)
    if new.member.kind == 'field':
        was, now = find_value(before), find_value(after)
        text = b'' if was is None else old.source[was.start_byte : was.end_byte]
    else:
        was, now = (node.child_by_field_name('body') for node in (before, after))
        pairs = map_parameters(list_parameters(before), list_parameters(after))
        if was is None or pairs is None:
            return None
        lines = b''.join(f' {one.type} {one.name} = {name};'.encode() for one, name in pairs)
        start = _find_first_place(was)
        text = old.source[was.start_byte : start] + lines + old.source[start : was.end_byte]
    if was is None or now is None:
        return None
    return replace_span(new.source, now.start_byte, now.end_byte, text)


def _find_first_place(body: Node) -> int:
    """Return where statements may begin: a call of another constructor stays first."""
    calls = [child for child in body.named_children if child.type == CONSTRUCTOR_CALL]
    return calls[0].end_byte if calls else body.start_byte + 1
