"""The local variables of a Java method, and other names for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

from tree_sitter import Node

from coevo.languages.rewriting import Rewrite, get_text, invent_name, rename, walk_named_nodes
from coevo.languages.spans import Span

_METHODS = ('method_declaration', 'constructor_declaration')
_CLASSES = frozenset({'class_body', 'enum_body', 'interface_body'})
# Nodes whose field `name` declares a variable.
_DECLARING = frozenset(
    {'catch_formal_parameter', 'enhanced_for_statement', 'formal_parameter', 'resource'}
    | {'variable_declarator', 'instanceof_expression'}
)
# Parents and fields under which an identifier is no variable.
_NO_VARIABLES = frozenset(
    {
        ('element_value_pair', 'key'),
        ('field_access', 'field'),
        ('method_invocation', 'name'),
        *((method, 'name') for method in _METHODS),
    }
)
_LABELS = ('break_statement', 'continue_statement', 'labeled_statement')
# Variables in these are left alone, since the scope is another one.
_UNCLEAR = ('switch_label', 'inferred_parameters', 'lambda_expression', 'record_pattern', 'pattern')


def find_types_of_local_variables(node: Node) -> Mapping[str, str]:
    """Return the type of each variable that the method around a node declares exactly once.

    Empty outside of a method, and in one that contains a class.
    """
    method = node.parent
    while method is not None and method.type not in _METHODS:
        method = method.parent
    if method is None:
        return {}
    nodes = list(walk_named_nodes(method))
    if any(inner.type in _CLASSES for inner in nodes):
        return {}
    declared = _count_declarations_by_name(nodes)
    types = {}
    for inner in nodes:
        if inner.type == 'formal_parameter':
            holder, name = inner, inner.child_by_field_name('name')
        elif inner.type == 'variable_declarator' and inner.parent is not None:
            holder, name = inner.parent, inner.child_by_field_name('name')
        else:
            continue
        type_ = holder.child_by_field_name('type')
        has_brackets = inner.child_by_field_name('dimensions') is not None
        if name is not None and type_ is not None and not has_brackets:
            types[get_text(name)] = get_text(type_)
    return {name: type_ for name, type_ in types.items() if declared[name] == 1}


def list_renamings(root: Node, span: Span, draw: Random) -> Iterator[Rewrite]:
    """Yield a new name for local variables of the methods inside a span.

    Only those are renamed that a method declares once and that are used in their block alone.
    Methods with a class in them are left out.
    """
    for method in _list_methods(root, span):
        nodes = list(walk_named_nodes(method))
        if any(node.type in _CLASSES for node in nodes):
            continue
        declared = _count_declarations_by_name(nodes)
        unclear_names = {
            get_text(inner)
            for node in nodes
            if node.type in _UNCLEAR
            for inner in walk_named_nodes(node)
            if node.type != 'lambda_expression' and inner.type == 'identifier'
        }
        for node in nodes:
            if node.type != 'variable_declarator' or node.parent is None:
                continue
            name = node.child_by_field_name('name')
            block = _find_variable_scope(node.parent)
            if name is None or block is None or declared[get_text(name)] != 1:
                continue
            text = get_text(name)
            uses = [use for use in nodes if _is_variable(use) and get_text(use) == text]
            is_inside = all(
                name.start_byte <= use.start_byte and use.end_byte <= block.end_byte for use in uses
            )
            if text not in unclear_names and is_inside:
                yield rename(uses, invent_name(draw, text))


def _list_methods(root: Node, span: Span) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= span[0] or node.start_byte >= span[1]:
            continue
        if node.type in _METHODS and span[0] <= node.start_byte and node.end_byte <= span[1]:
            yield node
        else:
            waiting += reversed(node.named_children)


def _count_declarations_by_name(nodes: list[Node]) -> Counter[str]:
    declared: Counter[str] = Counter()
    for node in nodes:
        if node.type in _DECLARING:
            name = node.child_by_field_name('name')
            declared[get_text(name) if name is not None else ''] += 1
        elif node.type in ('inferred_parameters', 'record_pattern_component', 'type_pattern'):
            declared.update(get_text(c) for c in node.named_children if c.type == 'identifier')
        elif node.type == 'lambda_expression':
            parameters = node.child_by_field_name('parameters')
            if parameters is not None and parameters.type == 'identifier':
                declared[get_text(parameters)] += 1
        elif node.type == 'spread_parameter':
            continue  # it contains a declarator
    return declared


def _find_variable_scope(declaration: Node) -> Node | None:
    """Return the node in which a declared variable can be used; None if it is no local one."""
    if declaration.type != 'local_variable_declaration' or declaration.parent is None:
        return None
    block = declaration.parent
    return block.parent if block.type == 'switch_block_statement_group' else block


def _is_variable(node: Node) -> bool:
    parent = node.parent
    if node.type != 'identifier' or parent is None or parent.type in _LABELS:
        return False
    if parent.type == 'method_reference' and parent.children[0] != node:
        return False
    return not any(
        parent.type == kind and parent.child_by_field_name(field) == node
        for kind, field in _NO_VARIABLES
    )
