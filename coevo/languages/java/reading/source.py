"""A parsed test file with its syntax tree, and one test method of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tree_sitter import Node, Parser

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.java.reading.calls import (
    JavaVariable,
    find_variables,
    get_text,
    list_children_without_comments,
)
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests
from coevo.languages.java.reading.tokens import JAVA, erase_type_name
from coevo.model.records import TestMethod


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
