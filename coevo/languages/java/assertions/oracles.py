"""Find all lines that can fail a test, and tests whose assertion is an expected exception."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node, Parser

from coevo.languages.java.assertions.found import is_oracle, is_oracle_reference
from coevo.languages.java.reading.calls import iterate_nodes, parse_call
from coevo.languages.java.reading.source import get_annotation_values, parse_java_source
from coevo.languages.java.reading.tokens import JAVA
from coevo.model.records import TestMethod


def find_oracle_lines(source: bytes) -> frozenset[int]:
    """Return the numbers of all lines, from 1, of statements and calls that can fail a test.

    These are `assert` statements, the calls of `is_oracle` and the references of
    `is_oracle_reference`. A call over several lines gives all of its lines.
    """
    return frozenset(_iterate_oracle_lines(Parser(JAVA).parse(source).root_node))


def _iterate_oracle_lines(root: Node) -> Iterator[int]:
    for node in iterate_nodes(root, classes=True):
        if (
            node.type == 'assert_statement'
            or is_oracle_reference(node)
            or (node.type == 'method_invocation' and is_oracle(parse_call(node)))
        ):
            yield from range(node.start_point[0] + 1, node.end_point[0] + 2)


def expects_exception(source: bytes, method: TestMethod) -> bool:
    """Return whether a test's `@Test` annotation names the exception that the test has to throw.

    The element is `expected` in JUnit 4 and `expectedExceptions` in TestNG.
    """
    values = get_annotation_values(parse_java_source(source).find_test(method).node, 'Test')
    return not {'expected', 'expectedExceptions'}.isdisjoint(values)
