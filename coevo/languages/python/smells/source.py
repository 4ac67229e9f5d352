"""Locate a test function in its file, with the class around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node, Parser

from coevo.languages.python.commands import get_class_name
from coevo.languages.python.reading.statements import (
    StatementsTooDeep,
    get_definition,
    list_statements_exposing_definitions,
)
from coevo.languages.python.reading.tokens import PYTHON
from coevo.model.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTest:
    """The syntax nodes of a test function in its file.

    root      the whole file
    function  the definition, with its decorators
    owner     the class around it, with its decorators; None for a function of a module
    """

    root: Node
    function: Node
    owner: Node | None

    @property
    def body(self) -> Node:
        """The block of the function."""
        body = get_definition(self.function).child_by_field_name('body')
        assert body is not None, 'a function has a body'
        return body


@lru_cache(maxsize=64)
def _parse_root(source: bytes) -> Node:
    return Parser(PYTHON).parse(source).root_node


def locate_test(source: bytes, method: TestMethod) -> PythonTest:
    """Return the nodes of a test method in its file; of several with one name, the last one.

    Raises:
        LookupError: the file declares no such method, or is nested too deeply
    """
    root = _parse_root(source)
    owner: Node | None = None
    try:
        for name in filter(None, get_class_name(method).split('.')):
            owner = _find_declaration(owner or root, name, 'class_definition')
        function = _find_declaration(owner or root, method.test_method, 'function_definition')
    except StatementsTooDeep as error:
        raise LookupError('the file is nested too deep') from error
    return PythonTest(root=root, function=function, owner=owner)


def _find_declaration(parent: Node, name: str, kind: str) -> Node:
    block = get_definition(parent).child_by_field_name('body') or parent
    for node in reversed(list(list_statements_exposing_definitions(block))):
        candidate = get_definition(node)
        if candidate.type == kind and get_name(candidate) == name:
            return node
    raise LookupError(f'there is no {name}')


def list_functions(owner: Node) -> Iterator[Node]:
    """Yield the functions that a class itself declares, without their decorators."""
    block = get_definition(owner).child_by_field_name('body')
    for node in list_statements_exposing_definitions(block) if block is not None else ():
        if get_definition(node).type == 'function_definition':
            yield get_definition(node)


def list_decorator_texts(node: Node) -> Iterator[str]:
    """Yield the decorators of a function or class as texts: `unittest.skip("why")`."""
    for child in node.children if node.type == 'decorated_definition' else ():
        if child.type == 'decorator':
            yield get_normalised_text(child).removeprefix('@').strip()


def walk_descendants(node: Node) -> Iterator[Node]:
    """Yield all nodes below a node, including those in nested functions, as PyNose does."""
    stack = list(reversed(node.children))
    while stack:
        descendant = stack.pop()
        yield descendant
        stack += reversed(descendant.children)


def get_text(node: Node) -> str:
    """Return the source text of a node."""
    return node.text.decode(errors='replace') if node.text is not None else ''


def get_normalised_text(node: Node) -> str:
    """Return the source text of a node, each run of white space as one space."""
    return ' '.join(get_text(node).split())


def get_name(node: Node) -> str:
    """Return the name of a definition; '' if it has none."""
    name = node.child_by_field_name('name')
    return get_text(name) if name is not None else ''
