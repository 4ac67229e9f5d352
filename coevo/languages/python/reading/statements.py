"""The declaring statements of a module or class, and the heads of functions and classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.python.reading.imports import STATEMENTS as IMPORTS
from coevo.languages.verdicts import ExecutedMethod

# The declaring statements of a module or class, the lines that statements begin on, and whether a
# function was executed.

_DEFINITIONS = frozenset({'function_definition', 'class_definition', 'decorated_definition'})
_COMPOUND = frozenset(
    {'if_statement', 'try_statement', 'with_statement', 'for_statement', 'while_statement'}
)
_BETWEEN = frozenset(
    {
        *('block', 'elif_clause', 'else_clause', 'except_clause', 'except_group_clause'),
        *('finally_clause', 'ERROR'),
    }
)
_TEXTS = frozenset({'string', 'concatenated_string'})
MOST_NESTED = 50


class StatementsTooDeep(ValueError):
    """Raised when statements are nested deeper than MOST_NESTED (50)."""


def list_statements_exposing_definitions(parent: Node, depth: int = 0) -> Iterator[Node]:
    """Yield the statements of a block, in order.

    Instead of an `if`, `try`, `with` or loop that contains a definition, the statements within it
    are yielded.

    Raises:
        StatementsTooDeep
    """
    if depth > MOST_NESTED:
        raise StatementsTooDeep
    for child in parent.children:
        if child.type in _BETWEEN or (child.type in _COMPOUND and _holds_definition(child, depth)):
            yield from list_statements_exposing_definitions(child, depth + 1)
        elif child.type.endswith(('_statement', '_definition')):
            yield child


def _holds_definition(node: Node, depth: int) -> bool:
    """Return whether a statement contains a definition outside of any other function or class.

    Raises:
        StatementsTooDeep
    """
    if depth > MOST_NESTED:
        raise StatementsTooDeep
    return any(
        child.type in _DEFINITIONS
        or (child.type in _BETWEEN | _COMPOUND and _holds_definition(child, depth + 1))
        for child in node.children
    )


def is_text_statement(statement: Node) -> bool:
    """Return whether a statement is a string alone, as a docstring is."""
    return (
        statement.type == 'expression_statement'
        and statement.child_count == 1
        and statement.children[0].type in _TEXTS
    )


def get_definition(node: Node) -> Node:
    """Return the function or class of a decorated statement; any other node unchanged."""
    inner = node.child_by_field_name('definition') if node.type == 'decorated_definition' else None
    return inner or node


def find_all_import_statements(root: Node) -> list[Node]:
    """Return all import statements of a file, in order, also those within functions."""
    statements, cursor = [], root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type in IMPORTS:
            statements.append(node)
        elif _may_hold_statements(node.type) and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return statements


def _may_hold_statements(kind: str) -> bool:
    return (
        kind in _BETWEEN
        or kind in ('module', 'match_statement', 'case_clause')
        or kind in _DEFINITIONS
        or kind in _COMPOUND
    )


def is_part_of(executed_method: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Return whether an executed function is the given member or lies inside it, by its lines.

    Without a member the whole type is compared: a module contains every function of its file, a
    class those within its lines. The code of a function begins at its first decorator, and so does
    the declaration. Nested functions, lambdas and, before 3.12, comprehensions are functions of
    their own within it. False if the lines of the function are unknown.
    """
    whole = member or type_
    if not executed_method.first_line:
        return False
    return (
        whole.start_line <= executed_method.first_line
        and executed_method.last_line <= whole.end_line
    )


# The part of a function or class above its body: name, decorators, bases, one-line declaration.

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
