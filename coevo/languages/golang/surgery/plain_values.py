"""Let a function return plain values of its types, or put an old body behind a new signature."""

from __future__ import annotations

from itertools import zip_longest

from tree_sitter import Node

from coevo.languages.golang.surgery.import_repair import repair_imports
from coevo.languages.golang.surgery.pieces import make_outline
from coevo.languages.text_edits import replace_span
from coevo.languages.undoing import (
    MOST_PLAIN,
    NAMELESS,
    LocatedDeclaration,
    Parameter,
    PlainVersion,
    map_lost_parameters,
)

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
