"""A parsed test file with its syntax tree, its test methods, calls and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tree_sitter import Node, Parser

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests
from coevo.languages.java.reading.tokens import COMMENTS, JAVA, erase_type_name
from coevo.model.records import TestMethod

# Find calls and variables in the syntax tree of a piece of Java.

_CLASS_BODIES = frozenset({'class_body', 'interface_body', 'enum_body'})
_ATOMS = frozenset({'string_literal', 'character_literal'})
_DECLARING = frozenset({'local_variable_declaration', 'field_declaration'})
_BOUND = frozenset({'formal_parameter', 'resource', 'enhanced_for_statement'})
_WORD = re.compile(r'[\w$]')


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaCall:
    """A method call in source; `receiver` is the expression before the dot or None."""

    name: str
    receiver: Node | None
    arguments: tuple[Node, ...]
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaVariable:
    """A declared variable; `type` is the simple name of its type, `value` its initializer or None.

    The type is as written, but that of `var x = new Foo()` is `Foo`. `declaration` is the whole
    statement, parameter or field.
    """

    name: str
    type: str
    value: Node | None
    declaration: Node


def get_text(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b'').decode(errors='replace')


def list_children_without_comments(node: Node) -> list[Node]:
    """Return the children that are neither punctuation nor comments."""
    return [child for child in node.named_children if child.type not in COMMENTS]


def iterate_nodes(node: Node, *, into_local_classes: bool) -> Iterator[Node]:
    """Yield a node and all of its descendants in source order.

    With `classes=False`, skip the bodies of local and anonymous classes.
    """
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = reversed(current.children)
        stack += [child for child in below if into_local_classes or child.type not in _CLASS_BODIES]


def find_calls(node: Node, *, into_local_classes: bool = False) -> Iterator[JavaCall]:
    """Yield the method calls in a node, itself included; see `iterate_nodes` for `classes`."""
    for descendant in iterate_nodes(node, into_local_classes=into_local_classes):
        if descendant.type == 'method_invocation':
            yield parse_call(descendant)


def parse_call(invocation: Node) -> JavaCall:
    """Return the call that a `method_invocation` node stands for."""
    name = invocation.child_by_field_name('name')
    arguments = invocation.child_by_field_name('arguments')
    return JavaCall(
        name=get_text(name) if name is not None else '',
        receiver=invocation.child_by_field_name('object'),
        arguments=tuple(list_children_without_comments(arguments)) if arguments is not None else (),
        node=invocation,
    )


def find_chained_calls(call: JavaCall) -> tuple[JavaCall, ...]:
    """Return the calls made on the result of a call, in order: `b` and `c` of `a().b().c()`."""
    calls, node = [], call.node
    while (parent := node.parent) is not None and parent.type == 'method_invocation':
        if parent.child_by_field_name('object') != node:
            break
        calls.append(parse_call(parent))
        node = parent
    return tuple(calls)


def find_variables(node: Node) -> Iterator[JavaVariable]:
    """Yield the fields, local variables, resources and parameters declared in a node.

    Bodies of local and anonymous classes are skipped.
    """
    for descendant in iterate_nodes(node, into_local_classes=False):
        if descendant.type in _DECLARING:
            for declarator in descendant.children_by_field_name('declarator'):
                yield from _parse_variable(descendant, declarator)
        elif descendant.type in _BOUND:
            yield from _parse_variable(descendant, descendant)


def _parse_variable(declaration: Node, declarator: Node) -> Iterator[JavaVariable]:
    type_ = declaration.child_by_field_name('type')
    name = declarator.child_by_field_name('name')
    if type_ is None or name is None:
        return  # a resource given only by name, or code with a syntax error
    value = declarator.child_by_field_name('value')
    declared = erase_type_name(get_text(type_))
    if (
        declared == 'var'
        and value is not None
        and (created := find_created_type_name(value)) is not None
    ):
        declared = created
    bound = declaration.type == 'enhanced_for_statement'
    yield JavaVariable(
        name=get_text(name), type=declared, value=None if bound else value, declaration=declaration
    )


def find_created_type_name(node: Node) -> str | None:
    """Return the simple name of the type that `new` creates; None for any other expression."""
    if node.type != 'object_creation_expression':
        return None
    type_ = node.child_by_field_name('type')
    return erase_type_name(get_text(type_)) if type_ is not None else None


def normalise_node(node: Node) -> str:
    """Join a node's tokens, without comments and with spaces only where two words would merge."""
    joined = ''
    for token in _list_tokens(node):
        apart = _WORD.match(joined[-1:]) and _WORD.match(token)
        joined += f' {token}' if apart else token
    return joined


def _list_tokens(node: Node) -> Iterator[str]:
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in _ATOMS or not current.children:
            if current.type not in COMMENTS:
                yield get_text(current)
        else:
            stack += reversed(current.children)


# A parsed test file with its syntax tree, and one test method of it.


class JavaSource:
    """The declarations of a file and their syntax tree nodes."""

    def __init__(self, source: bytes) -> None:
        self.file: SourceFile = parse(source)
        self._root = Parser(JAVA).parse(source).root_node

    def find_node(self, declared: DeclaredType | Member) -> Node:
        """Return the syntax tree node of a declaration of this file."""
        node = self._root.descendant_for_byte_range(declared.start_byte, declared.end_byte)
        assert node is not None, 'a declaration of this very source'
        return node

    def find_test(self, method: TestMethod) -> JavaTest:
        """Return one test method; raises LookupError if the file does not declare it."""
        wanted = method.test_class, method.test_method, method.parameters
        for type_ in self.file.types:
            for member in type_.members:
                here = type_.name, member.name, member.parameters
                if member.kind == 'method' and here == wanted:
                    return JavaTest(file=self, type=type_, member=member)
        raise LookupError(
            f'{method.test_file} declares no {method.test_class}#{method.test_method}'
        )

    @cached_property
    def tests(self) -> tuple[JavaTest, ...]:
        """The test methods that can be recognised from this file alone."""
        declared_tests = find_tests(self.file, self.file.index_types())
        return tuple(
            JavaTest(file=self, type=type_, member=member) for type_, member in declared_tests
        )

    def list_type_and_enclosing_types(self, type_: DeclaredType) -> list[DeclaredType]:
        """Return a type and all types that enclose it."""
        names, outer = {type_.name}, type_.enclosing_name
        while outer:
            names.add(outer)
            outer = next((t.enclosing_name for t in self.file.types if t.name == outer), '')
        return [t for t in self.file.types if t.name in names]

    def imports_any_of(self, *packages: str) -> bool:
        """Return whether the file imports anything from one of the packages or a subpackage."""
        starts = tuple(f'{package}.' for package in packages)
        return any(f'{item.text}.'.startswith(starts) for item in self.file.imports)


@dataclass(frozen=True, kw_only=True, eq=False)
class JavaTest:
    """A test method in its file, with its declaring type and its node."""

    file: JavaSource
    type: DeclaredType
    member: Member

    @cached_property
    def node(self) -> Node:
        """The syntax tree node of the method."""
        return self.file.find_node(self.member)

    @cached_property
    def body(self) -> Node:
        """The block of the method; every test method has one."""
        block = self.node.child_by_field_name('body')
        assert block is not None, 'an abstract method is no test'
        return block

    @cached_property
    def locals(self) -> tuple[JavaVariable, ...]:
        """The variables that the method declares, including its parameters."""
        return tuple(find_variables(self.node))

    @cached_property
    def variables(self) -> Mapping[str, JavaVariable]:
        """Every variable in scope, by name: fields of the type and those around it, then locals.

        Of several with the same name, the innermost one is kept.
        """
        variables_by_name: dict[str, JavaVariable] = {}
        for type_ in self.file.list_type_and_enclosing_types(self.type):
            for member in type_.members:
                if member.kind == 'field':
                    for variable in find_variables(self.file.find_node(member)):
                        variables_by_name[variable.name] = variable
        return variables_by_name | {variable.name: variable for variable in self.locals}


@lru_cache(maxsize=64)
def parse_java_source(source: bytes) -> JavaSource:
    """Parse a file; the cache lets all of its test methods share one result."""
    return JavaSource(source)


def get_annotation_values(declaration: Node, name: str) -> dict[str, str]:
    """Return the named values of a declaration's annotations with this simple name, as written.

    `@Test(timeout = 5)` gives `timeout` and `5`. A value without a name is left out.
    """
    values: dict[str, str] = {}
    for modifiers in (child for child in declaration.children if child.type == 'modifiers'):
        for annotation in list_children_without_comments(modifiers):
            written = annotation.child_by_field_name('name')
            arguments = annotation.child_by_field_name('arguments')
            if written is None or arguments is None or erase_type_name(get_text(written)) != name:
                continue
            for pair in (
                child
                for child in list_children_without_comments(arguments)
                if child.type == 'element_value_pair'
            ):
                key, value = (pair.child_by_field_name(field) for field in ('key', 'value'))
                if key is not None and value is not None:
                    values[get_text(key)] = get_text(value)
    return values
