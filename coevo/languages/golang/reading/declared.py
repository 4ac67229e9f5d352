"""The declarations at the top of a Go file, each with the names that it gives and the type it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

_GROUPS = {
    'var_declaration': frozenset({'var_spec'}),
    'const_declaration': frozenset({'const_spec'}),
    'type_declaration': frozenset({'type_spec', 'type_alias'}),
}
_LISTS = frozenset({'var_spec_list'})
_IOTA = re.compile(rb'\biota\b')


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A function, a method, a type, or variables or constants of one line.

    kind      func, type, var or const
    node      its text; a line of several that share a keyword, or all lines of constants that are
              counted, of which none means the same without the others
    inner     what of it is read: the lines themselves
    receiver  the simple name of a method's type
    """

    kind: str
    node: Node
    inner: tuple[Node, ...]
    names: tuple[str, ...]
    receiver: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the keyword belongs to its text."""
        return self.kind == 'func' or self.node.type in _GROUPS


def declared(root: Node, source: bytes) -> Iterator[Declared]:
    for node in root.children:
        if node.type == 'function_declaration':
            yield Declared(kind='func', node=node, inner=(node,), names=(_name(node, source),))
        elif node.type == 'method_declaration':
            yield Declared(
                kind='func',
                node=node,
                inner=(node,),
                names=(_name(node, source),),
                receiver=_receiver(node, source),
            )
        elif node.type in _GROUPS:
            yield from _of_group(node, source)


def _of_group(node: Node, source: bytes) -> Iterator[Declared]:
    kind, wanted = node.type.removesuffix('_declaration'), _GROUPS[node.type]
    lines = [child for child in node.children if child.type in wanted]
    for each in node.children:
        if each.type in _LISTS:
            lines += [child for child in each.children if child.type in wanted]
    if not lines:
        return
    if kind == 'const' and _is_counted(lines, source):
        names = tuple(name for line in lines for name in _names(line, source))
        yield Declared(kind=kind, node=node, inner=tuple(lines), names=names)
        return
    grouped = any(child.type == '(' for child in _with_lists(node))
    for line in lines:
        yield Declared(
            kind=kind,
            node=line if grouped else node,
            inner=(line,),
            names=tuple(_names(line, source)),
        )


def _with_lists(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        if child.type in _LISTS:
            yield from child.children


def _is_counted(lines: list[Node], source: bytes) -> bool:
    """Whether a line repeats the one above, or counts (https://go.dev/ref/spec#Iota)."""
    return any(line.child_by_field_name('value') is None for line in lines) or any(
        _IOTA.search(source, line.start_byte, line.end_byte) for line in lines
    )


def _name(node: Node, source: bytes) -> str:
    return _text(node.child_by_field_name('name'), source)


def _names(line: Node, source: bytes) -> Iterator[str]:
    for child in line.children_by_field_name('name'):
        if child.is_named:
            yield _text(child, source)


def _receiver(node: Node, source: bytes) -> str:
    """`T` of `(t *T)` and of `(t T[K, V])`; '' of none."""
    found = node.child_by_field_name('receiver')
    queue = [] if found is None else [*found.named_children]
    while queue:
        one = queue.pop(0)
        if one.type == 'type_identifier':
            return _text(one, source)
        inner = one.child_by_field_name('type')
        queue[:0] = [inner] if inner is not None else one.named_children
    return ''


def _text(node: Node | None, source: bytes) -> str:
    if node is None:
        return ''
    return source[node.start_byte : node.end_byte].decode(errors='replace')
