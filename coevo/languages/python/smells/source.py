"""A test function in its file, with the class around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages.python.names import class_of
from coevo.languages.python.reading.statements import TooDeep
from coevo.languages.python.reading.statements import declared
from coevo.languages.python.reading.statements import definition
from coevo.languages.python.reading.tokens import PYTHON
from coevo.model.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTest:
    """function, owner  with their decorators, where they have any; owner: the class, None of a function"""

    root: Node
    function: Node
    owner: Node | None

    @property
    def body(self) -> Node:
        found = definition(self.function).child_by_field_name('body')
        assert found is not None, 'a function has a body'
        return found


@lru_cache(maxsize=64)
def _parsed(source: bytes) -> Node:
    return Parser(PYTHON).parse(source).root_node


def read_test(source: bytes, method: TestMethod) -> PythonTest:
    """LookupError if the file declares no such method; of several with one name the last one counts."""
    root = _parsed(source)
    owner: Node | None = None
    try:
        for name in filter(None, class_of(method).split('.')):
            owner = _declared(owner or root, name, 'class_definition')
        function = _declared(owner or root, method.test_method, 'function_definition')
    except TooDeep as error:
        raise LookupError('the file is nested too deep') from error
    return PythonTest(root=root, function=function, owner=owner)


def _declared(parent: Node, name: str, kind: str) -> Node:
    block = definition(parent).child_by_field_name('body') or parent
    for node in reversed(list(declared(block))):
        found = definition(node)
        if found.type == kind and name_of(found) == name:
            return node
    raise LookupError(f'there is no {name}')


def functions_of(owner: Node) -> Iterator[Node]:
    """The functions that a class declares itself, without their decorators."""
    block = definition(owner).child_by_field_name('body')
    for node in declared(block) if block is not None else ():
        if definition(node).type == 'function_definition':
            yield definition(node)


def decorators(node: Node) -> Iterator[str]:
    """`unittest.skip("why")` and the like, of a function or class."""
    for child in node.children if node.type == 'decorated_definition' else ():
        if child.type == 'decorator':
            yield normalised(child).removeprefix('@').strip()


def inside(node: Node) -> Iterator[Node]:
    """All below a node, nested functions included, as PyNose goes."""
    stack = list(reversed(node.children))
    while stack:
        found = stack.pop()
        yield found
        stack += reversed(found.children)


def text(node: Node) -> str:
    return node.text.decode(errors='replace') if node.text is not None else ''


def normalised(node: Node) -> str:
    """Its text, whatever the layout."""
    return ' '.join(text(node).split())


def name_of(node: Node) -> str:
    name = node.child_by_field_name('name')
    return text(name) if name is not None else ''
