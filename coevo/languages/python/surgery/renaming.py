"""The local variables of a Python function, and other names for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from tree_sitter import Node

from coevo.languages.python.surgery.plain_values import walk_own_nodes
from coevo.languages.rewriting import Rewrite, get_text, invent_name, rename, walk_named_nodes
from coevo.languages.spans import Span

_FUNCTION = 'function_definition'
# Words of code that looks at the names of local variables.
_LOOKS = frozenset(
    {'_getframe', 'currentframe', 'dir', 'eval', 'exec', 'f_locals', 'globals', 'inspect'}
    | {'locals', 'stack', 'vars'}
)
_WORD = re.compile(rb'\w+')
_SCOPED = frozenset({'class_definition', 'case_pattern'})
_NAMING = frozenset(
    {'global_statement', 'nonlocal_statement', 'import_statement', 'import_from_statement'}
)
_PARAMETERS = frozenset({'parameters', 'lambda_parameters', 'type_parameter'})


def find_outer_function(node: Node) -> Node | None:
    """Return the outermost function around a node, or None."""
    outer, at = None, node.parent
    while at is not None:
        outer = at if at.type == _FUNCTION else outer
        at = at.parent
    return outer


def list_bound_names(function: Node) -> frozenset[str]:
    """Return all names that a function, or what is inside it, may bind or declare."""
    names = set()
    for node in walk_named_nodes(function):
        names |= set(_list_names_bound_by(node))
    return frozenset(names)


def may_inspect_locals(function: Node) -> bool:
    """Return whether a function has a word of code that looks at its local variables."""
    return bool(set(map(bytes.decode, _WORD.findall(function.text or b''))) & _LOOKS)


def list_renamings(root: Node, span: Span, draw: Random) -> Iterator[Rewrite]:
    """Yield a new name for each local variable of the outermost functions inside a span.

    Variables of a function that may look at its own names keep theirs, and so do those that a text
    in the function mentions.
    """
    for function in _list_outermost_functions(root, span):
        body = function.child_by_field_name('body')
        if body is None:
            continue
        nodes = list(walk_named_nodes(body))
        kept_names = _list_names_to_keep(function, nodes)
        if kept_names is None:
            continue
        # What only an inner function or a comprehension binds may be a global name elsewhere.
        targets = {
            name
            for node in walk_own_nodes(body)
            if node.type != 'for_in_clause'
            for name in _list_assigned_names(node)
        }
        names = sorted(targets - kept_names)
        for name in names:
            if not name.startswith('__'):
                uses = [node for node in nodes if _is_variable(node) and get_text(node) == name]
                yield rename(uses, invent_name(draw, f'{name}_'))


def _list_outermost_functions(root: Node, span: Span) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= span[0] or node.start_byte >= span[1]:
            continue
        if node.type != _FUNCTION:
            waiting += reversed(node.named_children)
        elif span[0] <= node.start_byte and node.end_byte <= span[1]:
            yield node


def _list_names_to_keep(function: Node, nodes: list[Node]) -> frozenset[str] | None:
    """Return the names in a function that must stay; None if all must."""
    if may_inspect_locals(function) or any(
        node.type in _SCOPED or _shows_expression_text(node) for node in nodes
    ):
        return None
    kept_names = set()
    for node in (function, *nodes):
        if node.type in _NAMING or node.type in _PARAMETERS:
            kept_names |= {
                get_text(inner) for inner in walk_named_nodes(node) if inner.type == 'identifier'
            }
        elif node.type == 'string_content':
            kept_names |= set(map(bytes.decode, _WORD.findall(node.text or b'')))
        elif node.type == _FUNCTION:
            name, parameters = (node.child_by_field_name(n) for n in ('name', 'parameters'))
            kept_names |= {get_text(name)} if name is not None else set()
            kept_names |= (
                {
                    get_text(inner)
                    for inner in walk_named_nodes(parameters)
                    if inner.type == 'identifier'
                }
                if parameters is not None
                else set()
            )
    return frozenset(kept_names)


def _shows_expression_text(node: Node) -> bool:
    """Return whether a hole of a string shows the text of its expression: `f'{total=}'`."""
    return node.type == 'interpolation' and any(child.type == '=' for child in node.children)


def _list_names_bound_by(node: Node) -> Iterator[str]:
    if node.type in _NAMING or node.type in _PARAMETERS or node.type in _SCOPED:
        yield from (
            get_text(inner) for inner in walk_named_nodes(node) if inner.type == 'identifier'
        )
    elif node.type in (_FUNCTION, 'as_pattern_target', 'delete_statement', 'type_alias_statement'):
        names = node.child_by_field_name('name')
        inside = [names] if names is not None else list(walk_named_nodes(node))
        yield from (get_text(inner) for inner in inside if inner.type == 'identifier')
    else:
        yield from _list_assigned_names(node)


def _list_assigned_names(node: Node) -> Iterator[str]:
    """Yield the names that an assignment, loop or the like binds."""
    match node.type:
        case 'assignment' | 'augmented_assignment' | 'for_statement' | 'for_in_clause':
            target = node.child_by_field_name('left')
        case 'named_expression':
            target = node.child_by_field_name('name')
        case _:
            return
    waiting = [] if target is None else [target]
    while waiting:
        at = waiting.pop()
        if at.type == 'identifier':
            yield get_text(at)
        elif at.type not in ('attribute', 'subscript'):
            waiting += at.named_children


def _is_variable(node: Node) -> bool:
    """Return whether an identifier is a variable: no attribute, and no name of an argument."""
    parent = node.parent
    if node.type != 'identifier' or parent is None:
        return False
    if parent.type == 'attribute':
        return parent.child_by_field_name('attribute') != node
    if parent.type == 'keyword_argument':
        return parent.child_by_field_name('name') != node
    return True
