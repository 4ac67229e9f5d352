"""The local variables of a Go function, and other names for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from tree_sitter import Node

from coevo.languages.rewriting import Rewrite, get_text, invent_name, rename, walk
from coevo.languages.spans import Span

_DECLARED = ('function_declaration', 'method_declaration')
_FUNCTIONS = (*_DECLARED, 'func_literal')
# Nodes whose fields `name` declare variables or the like.
_NAMED = frozenset(
    {'const_spec', 'parameter_declaration', 'type_spec', 'var_spec', 'type_parameter_declaration'}
    | {'variadic_parameter_declaration', *_DECLARED}
)
_LISTED = frozenset({'range_clause', 'receive_statement', 'short_var_declaration'})


def find_function(node: Node, *, outermost: bool = False) -> Node | None:
    """Return the innermost or the outermost function around a node, or None."""
    function, at = None, node.parent
    while at is not None:
        if at.type in _FUNCTIONS:
            function = at
            if not outermost:
                return function
        at = at.parent
    return function


def count_declared(nodes: list[Node]) -> Counter[str]:
    """Count how often each name is declared."""
    declared: Counter[str] = Counter()
    for node in nodes:
        names = node.children_by_field_name('name') if node.type in _NAMED else []
        left = node.child_by_field_name('left') if node.type in _LISTED else None
        if node.type == 'type_switch_statement':
            left = node.child_by_field_name('alias')
        names = [*names, *(left.named_children if left is not None else [])]
        declared.update(get_text(name) for name in names)
    return declared


def list_renamings(root: Node, span: Span, draw: Random) -> Iterator[Rewrite]:
    """Yield a new name for local variables of the functions inside a span.

    Only those are renamed that a function declares once, by `:=`, and that are used behind that in
    the same block alone.
    """
    for function in root.named_children:
        inside = span[0] <= function.start_byte and function.end_byte <= span[1]
        if not inside or function.type not in _DECLARED:
            continue
        nodes = list(walk(function))
        declared = count_declared(nodes)
        kept = {
            get_text(inner)
            for node in nodes
            if node.type == 'keyed_element'
            for inner in walk(node.named_children[0])
        }
        for node in nodes:
            left = node.child_by_field_name('left')
            if node.type != 'short_var_declaration' or left is None or node.parent is None:
                continue
            for name in left.named_children:
                text = get_text(name)
                uses = [use for use in nodes if use.type == 'identifier' and get_text(use) == text]
                is_clear = all(
                    use == name or node.end_byte <= use.start_byte < node.parent.end_byte
                    for use in uses
                )
                if text != '_' and declared[text] == 1 and text not in kept and is_clear:
                    yield rename(uses, invent_name(draw, text))
