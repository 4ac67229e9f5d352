"""Undoes one changed declaration in the new version of its file, or gives a function plain values.

The exception is imports: one that is no longer used is removed, as the compiler demands, and one
that the old text needs is added. Fulfils `coevo.languages.measures.ChangeUndoing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from tree_sitter import Node

from coevo.languages.declarations import MODULE, DeclaredType
from coevo.languages.golang.surgery.cuts import remove_parts, repair_imports, wrap_in_keyword
from coevo.languages.golang.surgery.pieces import GoOutline, GoPart, GoPiece, make_outline
from coevo.languages.measures import (
    MOST_PLAIN,
    NAMELESS,
    LocatedDeclaration,
    Parameter,
    PlainVersion,
    map_lost_parameters,
)
from coevo.languages.text_edits import TextEdits, replace_span
from coevo.model.dependencies import Revised

# Let a function return plain values of its types, or put an old body behind a new signature.

_INTEGERS = (
    *('byte', 'int', 'int8', 'int16', 'int32', 'int64', 'rune'),
    *('uint', 'uint8', 'uint16', 'uint32', 'uint64', 'uintptr'),
)
_VALUES = {
    **dict.fromkeys(_INTEGERS, ('0', '1')),
    **dict.fromkeys(('float32', 'float64'), ('0', '1')),
    'any': ('0', '""'),
    'bool': ('false', 'true'),
    'error': ('nil',),
    'string': ('""', '"?"'),
}
_LITERALS = {
    'false': ('false', 'true'),
    'float_literal': ('0.0', '1.0'),
    'int_literal': ('0', '1'),
    'interpreted_string_literal': ('""', '"?"'),
    'raw_string_literal': ('""', '"?"'),
    'rune_literal': ("'?'",),
    'true': ('false', 'true'),
}
_FILLED = ('array_type', 'map_type', 'slice_type')
_NIL = ('function_type', 'interface_type')


def list_versions_with_plain_values(new: LocatedDeclaration) -> tuple[PlainVersion, ...]:
    """Return the file with a function that returns plain values, or with a variable that holds one.

    Pointers point to zero values. Empty for a function without a body, and for a variable whose
    value is no literal.
    """
    assert new.member is not None
    is_field = new.member.kind == 'field'
    value_or_body = find_value(new) if is_field else find_node(new).child_by_field_name('body')
    if value_or_body is None:
        return ()
    sign, texts = (
        (' = ', _list_plain_literals(value_or_body))
        if is_field
        else (' ', _make_plain_bodies(find_node(new)))
    )
    start, end, file = value_or_body.start_byte, value_or_body.end_byte, make_outline(new.source)
    return tuple(
        PlainVersion(
            written=sign + text,
            source=repair_imports(replace_span(new.source, start, end, text.encode()), file, []),
        )
        for text in texts[:MOST_PLAIN]
    )


def find_node(declared: LocatedDeclaration) -> Node:
    """Return the node of a member: the outermost one with its span."""
    member = declared.member
    assert member is not None
    span = member.start_byte, member.end_byte
    node = make_outline(declared.source).root.descendant_for_byte_range(*span)
    assert node is not None, 'a declaration of this very source'
    while (around := node.parent) is not None and (around.start_byte, around.end_byte) == span:
        node = around
    return node


def find_value(declared: LocatedDeclaration) -> Node | None:
    """Return the value of a variable or constant that is declared alone; None if there is none."""
    node = find_node(declared)
    specs = [child for child in (node, *node.named_children) if child.type in _SPECS]
    if len(specs) != 1 or len(specs[0].children_by_field_name('name')) != 1:
        return None
    values = specs[0].child_by_field_name('value')
    return (
        values.named_children[0] if values is not None and values.named_child_count == 1 else None
    )


_SPECS = ('const_spec', 'var_spec')


def get_text(node: Node | None) -> str:
    """Return the source text of a node; '' for None."""
    return '' if node is None or node.text is None else node.text.decode(errors='replace')


def list_parameters(holder: Node | None) -> tuple[Parameter, ...]:
    """Return the parameters, results or receiver in brackets, in order."""
    declarations = holder.named_children if holder is not None else []
    return tuple(
        Parameter(name=name, type=type_, is_variadic=node.type.startswith('variadic'))
        for node in declarations
        if node.type in ('parameter_declaration', 'variadic_parameter_declaration')
        for type_ in [_get_parameter_type(node)]
        for name in list(map(get_text, node.children_by_field_name('name'))) or ['']
    )


def _get_parameter_type(node: Node) -> str:
    text = get_text(node.child_by_field_name('type'))
    return f'[]{text}' if node.type.startswith('variadic') else text


def _make_plain_bodies(function: Node) -> tuple[str, ...]:
    """Return plain bodies of a function."""
    taken = list_parameters(function.child_by_field_name('receiver')) + list_parameters(
        function.child_by_field_name('parameters')
    )
    values = [_list_plain_result_values(type_, taken) for type_ in _list_result_types(function)]
    if not values:
        return ('{ }',)
    rows = (
        (value or known[0] for value, known in zip(row, values, strict=True))
        for row in zip_longest(*values)
    )
    return tuple(f'{{ return {", ".join(row)} }}' for row in rows)


def _list_result_types(function: Node) -> list[Node]:
    result = function.child_by_field_name('result')
    if result is None or result.type != 'parameter_list':
        return [] if result is None else [result]
    return [
        type_
        for node in result.named_children
        if (type_ := node.child_by_field_name('type')) is not None
        for _ in node.children_by_field_name('name') or [node]
    ]


def _list_plain_result_values(type_: Node, taken: tuple[Parameter, ...]) -> list[str]:
    """Return plain values of a type: zero, a parameter of that type, another one."""
    text = get_text(type_)
    zero, *others = _VALUES.get(text, (_make_zero(type_, text),))
    same = [
        parameter.name
        for parameter in taken
        if parameter.type == text and parameter.name not in NAMELESS
    ]
    return [zero, *same[:1], *others]


def _make_zero(type_: Node, text: str) -> str:
    if type_.type in _NIL:
        return 'nil'
    if type_.type in _FILLED:
        return f'{text}{{}}'
    if type_.type == 'pointer_type':
        return f'new({text.removeprefix("*").strip()})'
    return f'make({text})' if type_.type == 'channel_type' else f'*new({text})'


def _list_plain_literals(value: Node) -> tuple[str, ...]:
    """Return plain values in place of a literal; empty for any other value."""
    if value.type == 'composite_literal':
        kind = value.child_by_field_name('type')
        if kind is not None and kind.type != 'implicit_length_array_type':
            return (f'{get_text(kind)}{{}}',)
    return _LITERALS.get(value.type, ())


def restore_body_under_new_signature(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> bytes | None:
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
        pairs = map_lost_parameters(
            _list_receiver_and_parameters(find_node(old)),
            _list_receiver_and_parameters(find_node(new)),
        )
        if was is None or pairs is None or any(name in NAMELESS for _, name in pairs):
            return None
        lines = b''.join(
            f' {parameter.name} := {name}; _ = {parameter.name};'.encode()
            for parameter, name in pairs
        )
        text = b'{' + lines + old.source[was.start_byte + 1 : was.end_byte]
    if was is None or now is None:
        return None
    restored = replace_span(new.source, now.start_byte, now.end_byte, text)
    return repair_imports(restored, make_outline(new.source), [make_outline(old.source)])


def _list_receiver_and_parameters(function: Node) -> tuple[Parameter, ...]:
    """Return the receiver and the parameters; those without a name on the old side are not needed."""
    holders = (function.child_by_field_name(name) for name in ('receiver', 'parameters'))
    return tuple(parameter for holder in holders for parameter in list_parameters(holder))


# Undoes one changed declaration in the new version of its file, and leaves the rest as it is.

_Found = tuple[GoPiece, GoPart]

IS_COMPILED = True
"""The compiler reports a missing name."""


def undo_member(revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration) -> bytes:
    """Return the file at new with one member as it was, and with its imports repaired.

    A removed member is put back at the end, since the order of declarations has no meaning in Go.

    revised  what happened to the member: an inserted one is cut, a modified one replaced
    old      the member at the old revision; None if it was inserted
    new      the member at the new revision, unless it was removed
    """
    file, edits = make_outline(new.source), TextEdits(new.source)
    if revised is Revised.INSERTED:
        remove_parts(edits, file, [_find_member(file, new)[1]])
        return repair_imports(edits.apply_edits(), file, [])
    assert old is not None
    before = make_outline(old.source)
    was = _find_member(before, old)
    if revised is Revised.MODIFIED:
        _replace_part(edits, file, _find_member(file, new), before, was)
    else:
        _append_parts(edits, before, [was])
    return repair_imports(edits.apply_edits(), file, [before])


def undo_header(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the file at new with the old text of a type, without its methods.

    None if the text is the same but for the type's name, if the type is a package, or if either
    file declares only methods of the type.
    """
    if MODULE in (old.type.kind, new.type.kind) or old.type.shape_hash == new.type.shape_hash:
        return None
    before, file, edits = make_outline(old.source), make_outline(new.source), TextEdits(new.source)
    was, now = _find_type(before, old.type), _find_type(file, new.type)
    if was is None or now is None:
        return None  # the file declares only methods of the type
    _replace_part(edits, file, (now, now.first_part), before, (was, was.first_part))
    return repair_imports(edits.apply_edits(), file, [before])


def remove_type_declaration(new: LocatedDeclaration) -> bytes | None:
    """Return the file at new without a type and its methods.

    None if the file does not declare the type itself: it is a package, or has only methods here.
    """
    file, edits = make_outline(new.source), TextEdits(new.source)
    piece = _find_type(file, new.type)
    if piece is None:
        return None
    remove_parts(edits, file, piece.parts)
    return repair_imports(edits.apply_edits(), file, [])


def put_back_type(old: LocatedDeclaration, source: bytes) -> bytes | None:
    """Return the file with a removed type and its methods at the end.

    None if the old file does not declare the type itself: it is a package, or has only methods
    there.

    source  the content of the file at new
    """
    before, edits = make_outline(old.source), TextEdits(source)
    piece = _find_type(before, old.type)
    if piece is None:
        return None
    _append_parts(edits, before, [(piece, part) for part in piece.parts])
    return repair_imports(edits.apply_edits(), make_outline(source), [before])


def _find_member(file: GoOutline, declared: LocatedDeclaration) -> _Found:
    """Return the smallest part that contains a member, with its piece.

    Constants that are counted together are one part.
    """
    assert declared.member is not None
    at = declared.member.start_byte
    parts = [
        (piece, part)
        for piece in file.pieces
        for part in piece.parts
        if part.text[0] <= at < part.text[1]
    ]
    assert parts, 'a declaration of this very source'
    return min(parts, key=lambda one: one[1].text[1] - one[1].text[0])


def _find_type(file: GoOutline, type_: DeclaredType) -> GoPiece | None:
    return next((p for p in file.pieces if p.kind == 'type' and p.names == (type_.simple,)), None)


def _replace_part(
    edits: TextEdits, file: GoOutline, now: _Found, before: GoOutline, was: _Found
) -> None:
    """Put the old part in place of the new one.

    If only one of them is a line of a group, cut the new one and put the old one at the end.
    """
    if now[1].is_line == was[1].is_line:
        edits.replace(*now[1].text, before.load_part(was[1]))
    else:
        remove_parts(edits, file, [now[1]])
        _append_parts(edits, before, [was])


def _append_parts(edits: TextEdits, before: GoOutline, found: Sequence[_Found]) -> None:
    for piece, part in found:
        text = before.load_part(part)
        if part.is_line:
            text = wrap_in_keyword(piece.kind, part, text, before.source)
        edits.insert(len(edits.source), b'\n' + text + b'\n')
