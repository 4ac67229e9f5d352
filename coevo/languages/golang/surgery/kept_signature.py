"""Put the old body of a function behind its new signature, or the old value of a variable."""

from __future__ import annotations

from tree_sitter import Node

from coevo.languages.golang.surgery.import_repair import repair_imports
from coevo.languages.golang.surgery.pieces import make_outline
from coevo.languages.golang.surgery.plain_values import (
    find_node,
    find_value,
    list_parameters,
)
from coevo.languages.text_edits import replace_span
from coevo.languages.undoing import NAMELESS, LocatedDeclaration, Parameter, map_parameters


def keep_signature(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with the old body of a function, or the old value of a variable.

    Parameters and receivers with new names are assigned to their old ones first. None if either
    end has no body or value, or if a parameter is gone.
    """
    assert old.member is not None
    assert new.member is not None
    if new.member.kind == 'field':
        was, now = find_value(old), find_value(new)
        text = b'' if was is None else old.source[was.start_byte : was.end_byte]
    else:
        was, now = (find_node(at).child_by_field_name('body') for at in (old, new))
        pairs = map_parameters(_list_all_names(find_node(old)), _list_all_names(find_node(new)))
        if was is None or pairs is None or any(name in NAMELESS for _, name in pairs):
            return None
        lines = b''.join(f' {one.name} := {name}; _ = {one.name};'.encode() for one, name in pairs)
        text = b'{' + lines + old.source[was.start_byte + 1 : was.end_byte]
    if was is None or now is None:
        return None
    made = replace_span(new.source, now.start_byte, now.end_byte, text)
    return repair_imports(made, make_outline(new.source), [make_outline(old.source)])


def _list_all_names(function: Node) -> tuple[Parameter, ...]:
    """Return the receiver and the parameters; those without a name on the old side are not needed."""
    holders = (function.child_by_field_name(name) for name in ('receiver', 'parameters'))
    return tuple(one for holder in holders for one in list_parameters(holder))
