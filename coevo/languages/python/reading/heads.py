"""The part of a function or class above its body: name, decorators, bases, one-line declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from coevo.languages.python.reading.statements import get_definition

_WRAPPERS = {'staticmethod': 'static', 'classmethod': 'classmethod', 'property': 'property'}
_ABSTRACT = frozenset({'ABC', 'ABCMeta', 'Protocol'})
_ACCESSORS = frozenset({'setter', 'deleter'})


class Head:
    """The head of a function or class definition, with its decorators.

    statement  the definition, or the decorated statement around it
    renamed    the original simple names, by import aliases
    """

    def __init__(self, statement: Node, source: bytes, renamed: Mapping[str, str]) -> None:
        self._statement = statement
        self._source = source
        self._renamed = renamed
        self.node = get_definition(statement)
        self.body = self.node.child_by_field_name('body')
        self.name = self.read_text(self.node.child_by_field_name('name'))

    def read_text(self, node: Node | None) -> str:
        """Return the source text of a node; '' for None."""
        if node is None:
            return ''
        return self._source[node.start_byte : node.end_byte].decode(errors='replace')

    @property
    def decorator_names(self) -> tuple[str, ...]:
        """The simple names of the decorators: `patch` for `@mock.patch(…)`.

        Import aliases are resolved.
        """
        nodes = (c for c in self._statement.children if c.type == 'decorator')
        return tuple(
            name
            for node in nodes
            for c in node.named_children
            if (name := self._get_simple_name(c))
        )

    @property
    def base_names(self) -> tuple[str, ...]:
        """The simple names of the base classes."""
        return tuple(
            name
            for node in self._list_superclass_nodes()
            if not node.type.startswith(('keyword', 'comment'))
            and (name := self._get_simple_name(node))
        )

    @property
    def modifiers(self) -> frozenset[str]:
        """`static`, `classmethod`, `property`, `async` and `private`, where they apply."""
        modifiers = {_WRAPPERS[name] for name in self.decorator_names if name in _WRAPPERS}
        if any(child.type == 'async' for child in self.node.children):
            modifiers.add('async')
        if self.name.startswith('_') and not self.name.endswith('__'):
            modifiers.add('private')
        return frozenset(modifiers)

    @property
    def is_test_returning_none(self) -> bool:
        """True if the name begins with `test` and the return type is `None`.

        Such a test equals one without the annotation.
        """
        says = self.read_text(self.node.child_by_field_name('return_type'))
        return says == 'None' and self.name.startswith('test')

    @property
    def is_abstract(self) -> bool:
        """True if a base or the metaclass is ABC, ABCMeta or Protocol."""
        names = {self._get_simple_name(node) for node in self._list_superclass_nodes()}
        return not names.isdisjoint(_ABSTRACT)

    @property
    def accessor_decorators(self) -> tuple[str, ...]:
        """The decorators `setter` and `deleter` that distinguish it from the getter; () if none."""
        return tuple(name for name in self.decorator_names if name in _ACCESSORS)

    @property
    def declaration(self) -> str:
        """The declaration on one line: `async def f(x: int = 1) -> str`, `class A(B)`."""
        start = self.node.start_byte
        end = self.node.end_byte if self.body is None else self.body.start_byte
        pieces = []
        for child in _find_comments(self.node, end):
            pieces.append(self._source[start : child.start_byte])
            start = child.end_byte
        text = b' '.join([*pieces, self._source[start:end]]).decode(errors='replace')
        return ' '.join(text.split()).removesuffix(':').rstrip()

    def _list_superclass_nodes(self) -> list[Node]:
        superclasses = self.node.child_by_field_name('superclasses')
        return superclasses.named_children if superclasses is not None else []

    def _get_simple_name(self, node: Node) -> str:
        """Return the simple name `C` of `a.b.C`, `C(…)`, `C[…]` or `metaclass=C`.

        Import aliases are resolved. '' for any other expression.
        """
        while node.type in ('call', 'subscript', 'keyword_argument'):
            field = {'call': 'function', 'subscript': 'value'}.get(node.type, 'value')
            inner = node.child_by_field_name(field)
            if inner is None:
                return ''
            node = inner
        if node.type == 'attribute':
            return self.read_text(node.child_by_field_name('attribute'))
        if node.type != 'identifier':
            return ''
        name = self.read_text(node)
        return self._renamed.get(name, name)


def _find_comments(node: Node, end: int) -> Iterator[Node]:
    """Yield the comments and line continuations that begin before the offset `end`, in order."""
    todo = [node]
    while todo:
        child = todo.pop()
        if child.start_byte >= end:
            return
        if child.type in ('comment', 'line_continuation'):
            yield child
        elif child.type != 'block':
            todo.extend(reversed(child.children))
