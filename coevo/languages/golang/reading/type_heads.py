"""What the head of a type tells: what kind it is of, and whose methods it has."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

_HOLDERS = frozenset({'field_declaration_list', 'interface_type'})


def is_interface(node: Node) -> bool:
    type_ = node.child_by_field_name('type')
    return type_ is not None and type_.type == 'interface_type'


def describe_type(node: Node, source: bytes) -> str:
    """`struct`, `interface`, or the type as it is written."""
    type_ = node.child_by_field_name('type')
    if type_ is None:
        return ''
    if type_.type in ('struct_type', 'interface_type'):
        return type_.type.removesuffix('_type')
    return ' '.join(source[type_.start_byte : type_.end_byte].decode(errors='replace').split())


def list_embedded_types(node: Node, source: bytes) -> Iterator[str]:
    """The simple names of the types whose methods a type has: those in it, and what it is an alias of."""
    type_ = node.child_by_field_name('type')
    if type_ is None:
        return
    if node.type == 'type_alias':
        yield from _find_simple_name(type_, source)
    for list_ in (type_, *type_.named_children):
        for field in list_.named_children if list_.type in _HOLDERS else ():
            unnamed = field.child_by_field_name('name') is None
            if field.type == 'field_declaration' and unnamed:
                inner = field.child_by_field_name('type')
                yield from _find_simple_name(inner, source) if inner is not None else ()
            elif field.type == 'type_elem' and field.named_child_count == 1:
                yield from _find_simple_name(field.named_children[0], source)


def _find_simple_name(type_: Node, source: bytes) -> Iterator[str]:
    """`T` of `T`, `*T`, `p.T`, `T[K]`."""
    current: Node | None = type_
    while current is not None and current.type != 'type_identifier':
        inner = current.child_by_field_name('name') or current.child_by_field_name('type')
        if inner is None and current.type == 'pointer_type':
            inner = next(iter(current.named_children), None)
        current = inner
    if current is not None:
        yield source[current.start_byte : current.end_byte].decode(errors='replace')
