"""Find assertions in a piece of Java by name, their messages, and all lines that can fail a test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node, Parser

from coevo.languages.declarations import SourceFile
from coevo.languages.java.reading.source import (
    JavaCall,
    JavaVariable,
    find_calls,
    find_chained_calls,
    get_annotation_values,
    get_text,
    iterate_nodes,
    list_children_without_comments,
    parse_call,
    parse_java_source,
)
from coevo.languages.java.reading.tokens import JAVA
from coevo.model.records import TestMethod

# The position of an assertion's message: first in JUnit 3 and 4, last in JUnit 5 and TestNG.
#
# Sources: the API documentation of junit.framework.Assert, org.junit.Assert,
# org.hamcrest.MatcherAssert, org.junit.jupiter.api.Assertions, org.testng.Assert and
# org.testng.AssertJUnit.

# The number of arguments of an assertion without a message and without a delta.
ARITY: Mapping[str, int] = {
    'fail': 0,
    'assertTrue': 1,
    'assertFalse': 1,
    'assertNull': 1,
    'assertNotNull': 1,
    'assertDoesNotThrow': 1,
    'assertEquals': 2,
    'assertNotEquals': 2,
    'assertArrayEquals': 2,
    'assertArrayNotEquals': 2,
    'assertIterableEquals': 2,
    'assertLinesMatch': 2,
    'assertSame': 2,
    'assertNotSame': 2,
    'assertInstanceOf': 2,
    'assertThrows': 2,
    'assertThrowsExactly': 2,
    'assertTimeout': 2,
    'assertTimeoutPreemptively': 2,
    'assertThat': 2,
    'assertEqualsNoOrder': 2,
    'assertEqualsDeep': 2,
}
_WITH_DELTA = frozenset({'assertEquals', 'assertNotEquals', 'assertArrayEquals'})
_LAST = frozenset({'org.junit.jupiter.api.Assertions', 'org.testng.Assert'})
_FIRST = frozenset(
    {
        'org.junit.Assert',
        'junit.framework.Assert',
        'junit.framework.TestCase',
        'org.testng.AssertJUnit',
        'org.hamcrest.MatcherAssert',
    }
)
_STRINGS = frozenset({'string_literal', 'lambda_expression'})
_NUMBERS = frozenset(
    {
        'decimal_integer_literal',
        'decimal_floating_point_literal',
        'hex_integer_literal',
        'hex_floating_point_literal',
        'octal_integer_literal',
        'binary_integer_literal',
    }
)
_TEXT_MAKERS = frozenset({'format', 'formatted', 'concat', 'getMessage', 'toString', 'valueOf'})
_FLOATS = frozenset({'double', 'float', 'Double', 'Float'})
_DELTA = re.compile(r'delta|eps|toleran|precision|\bulp\b', re.IGNORECASE)


def find_message_argument(
    call: JavaCall, *, last: bool, variables: Mapping[str, JavaVariable]
) -> Node | None:
    """Return the argument that is an assertion's message; None if it has none.

    An assertion of JUnit, TestNG or Hamcrest with one argument too many has a message, unless this
    argument is a delta for comparing numbers. An argument that is neither written nor declared as a
    text or a number is treated as a message. `last` says at which end the message is.
    """
    arguments = call.arguments
    extra = len(arguments) - ARITY.get(call.name, len(arguments))
    if extra <= 0:
        return None
    message = arguments[-1] if last else arguments[0]
    if extra == 1 and call.name in _WITH_DELTA and not is_text(message, variables):
        return None if _is_delta(arguments[-1], variables) else message
    return message


def has_message_last(call: JavaCall, file: SourceFile) -> bool:
    """Return whether a failure message is the last argument of an assertion, not the first.

    The class that declares the assertion decides: last in JUnit 5 and TestNG, first in JUnit 3 and
    4. If no import reveals that class, the result is True if the file imports from JUnit 5 or
    TestNG.
    """
    holders = _list_declaring_classes(call, file)
    if any(holder in _FIRST for holder in holders):
        return False
    if any(holder in _LAST for holder in holders):
        return True
    return any(item.text.startswith(('org.junit.jupiter', 'org.testng')) for item in file.imports)


def _list_declaring_classes(call: JavaCall, file: SourceFile) -> list[str]:
    """Return the qualified classes that may declare a call's method, according to the imports."""
    if call.receiver is None:
        statics = [item for item in file.imports if item.static]
        exact = [i.text.rpartition('.')[0] for i in statics if i.name == call.name]
        return exact or [item.text for item in statics if item.name == '*']
    written = get_text(call.receiver)
    if '.' in written:
        return [written]
    exact = [i.text for i in file.imports if not i.static and i.name == written]
    return exact or [f'{item.text}.{written}' for item in file.imports if item.name == '*']


def is_text(node: Node, variables: Mapping[str, JavaVariable]) -> bool:
    """Return whether an expression gives a string, or a supplier of one as JUnit 5 accepts it.

    Every lambda counts as a supplier. `variables` gives the declared types. A sum or `?:` is a
    string if one of its last two operands is.
    """
    parts = [node]
    while parts:
        part = parts.pop()
        if _may_compose_text(part):
            parts += list_children_without_comments(part)[
                -2:
            ]  # a text may be a sum of hundreds of lines
        elif part.type in _STRINGS or _produces_text(part, variables):
            return True
    return False


def _may_compose_text(node: Node) -> bool:
    if node.type == 'binary_expression':
        operator = node.child_by_field_name('operator')
        return operator is not None and operator.type == '+'
    return node.type in ('parenthesized_expression', 'ternary_expression')


def _produces_text(node: Node, variables: Mapping[str, JavaVariable]) -> bool:
    if node.type == 'identifier' and get_text(node) in variables:
        return variables[get_text(node)].type in ('String', 'Supplier')
    name = node.child_by_field_name('name') if node.type == 'method_invocation' else None
    return name is not None and get_text(name) in _TEXT_MAKERS


def is_number(node: Node) -> bool:
    """Return whether an expression is a numeric literal, with or without a sign."""
    if node.type == 'unary_expression':
        operand = node.child_by_field_name('operand')
        return operand is not None and operand.type in _NUMBERS
    return node.type in _NUMBERS


def _is_delta(node: Node, variables: Mapping[str, JavaVariable]) -> bool:
    if is_number(node) or _DELTA.search(get_text(node)):
        return True
    parts = (
        descendant
        for descendant in iterate_nodes(node, into_local_classes=False)
        if not descendant.children
    )
    return any(_is_float(part, variables) for part in parts)


def _is_float(part: Node, variables: Mapping[str, JavaVariable]) -> bool:
    written = get_text(part)
    if part.type == 'identifier' and written in variables:
        return variables[written].type in _FLOATS
    return part.type == 'decimal_floating_point_literal' or written in _FLOATS


# Find assertions in a piece of Java by name, and all lines that can fail a test.

GROUP = 'assertAll'
DESCRIBING = frozenset({'as', 'describedAs', 'withFailMessage', 'overridingErrorMessage'})
"""Links of an AssertJ chain that set a message."""
_TRUTH = frozenset({'assertWithMessage', 'assert_'})


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion:
    """An assertion in source: its first call, and in `links` the calls chained to it, in order.

    For `assertThat(x).isNotNull().hasSize(2)`, `call` is `assertThat(x)` and `links` are the two
    checks.
    """

    call: JavaCall
    links: tuple[JavaCall, ...] = ()

    @property
    def name(self) -> str:
        """The name of the first call."""
        return self.call.name

    @property
    def is_fluent(self) -> bool:
        """True for an assertion whose checks are chained calls, as in AssertJ and Truth.

        False for `assertThat` without chained calls, which is Hamcrest's form.
        """
        return self.name not in ARITY or (self.name == 'assertThat' and bool(self.links))

    @property
    def is_in_truth_style(self) -> bool:
        """True if the chain starts with Truth's `assert_` or `assertWithMessage`.

        The tested value is then the argument of a chained call: `assert_().that(x).isNull()`.
        """
        return self.name in _TRUTH

    @cached_property
    def has_message_in_chain(self) -> bool:
        """True if a call of the chain sets a message, such as AssertJ's `as`.

        So does Truth's `assertWithMessage`. A message among the arguments of `assertEquals` and the
        like does not count.
        """
        named = self.name == 'assertWithMessage' or bool({'withMessage'} & self._link_names)
        return named or not DESCRIBING.isdisjoint(self._link_names)

    @property
    def _link_names(self) -> set[str]:
        return {link.name for link in self.links}

    @property
    def whole_node(self) -> Node:
        """The node from the first call to the end of the chain."""
        return self.links[-1].node if self.links else self.call.node


def find_assertions(node: Node, *, into_local_classes: bool = False) -> Iterator[Assertion]:
    """Yield the assertions of known libraries below a node, outer ones first.

    With `classes=False`, bodies of local and anonymous classes are skipped. `assertAll` is not
    included; see `find_assertion_groups`.
    """
    for call in find_calls(node, into_local_classes=into_local_classes):
        if call.name in ARITY or call.name in _TRUTH or call.name.startswith('assertThat'):
            yield Assertion(call=call, links=find_chained_calls(call))
        elif call.name == 'then' and call.receiver is None and (links := find_chained_calls(call)):
            yield Assertion(call=call, links=links)


def find_assertion_groups(node: Node) -> Iterator[JavaCall]:
    """Yield the `assertAll` calls below a node, outside of local and anonymous classes."""
    return (call for call in find_calls(node) if call.name == GROUP)


def is_oracle(call: JavaCall) -> bool:
    """Return whether a call is an assertion, the check of a mock, or the start of an expectation.

    Only the name decides. It starts with `assert`, `verify` or `andExpect`, or is `fail`. A name
    that starts with `expect` or `should` needs a receiver. `then` needs chained calls and no
    receiver.
    """
    if call.name == 'fail' or call.name.startswith(('assert', 'verify', 'andExpect')):
        return True
    if call.name == 'then':
        return call.receiver is None and bool(find_chained_calls(call))
    return call.name.startswith(('expect', 'should')) and call.receiver is not None


def is_oracle_reference(node: Node) -> bool:
    """Return whether a node is a method reference such as `this::assertValid`.

    The method's name has to start with `assert` or `verify`.
    """
    if node.type != 'method_reference':
        return False
    return get_text(node.children[-1]).startswith(('assert', 'verify'))


def find_oracle_lines(source: bytes) -> frozenset[int]:
    """Return the numbers of all lines, from 1, of statements and calls that can fail a test.

    These are `assert` statements, the calls of `is_oracle` and the references of
    `is_oracle_reference`. A call over several lines gives all of its lines.
    """
    return frozenset(_iterate_oracle_lines(Parser(JAVA).parse(source).root_node))


def _iterate_oracle_lines(root: Node) -> Iterator[int]:
    for node in iterate_nodes(root, into_local_classes=True):
        if (
            node.type == 'assert_statement'
            or is_oracle_reference(node)
            or (node.type == 'method_invocation' and is_oracle(parse_call(node)))
        ):
            yield from range(node.start_point[0] + 1, node.end_point[0] + 2)


def declares_expected_exception(source: bytes, method: TestMethod) -> bool:
    """Return whether a test's `@Test` annotation names the exception that the test has to throw.

    The element is `expected` in JUnit 4 and `expectedExceptions` in TestNG.
    """
    values = get_annotation_values(parse_java_source(source).find_test(method).node, 'Test')
    return not {'expected', 'expectedExceptions'}.isdisjoint(values)
