"""Find assertions in a piece of Java by name, and all lines that can fail a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node, Parser

from coevo.languages.java.assertions.style import ARITY
from coevo.languages.java.reading.calls import (
    JavaCall,
    find_calls,
    find_chained_calls,
    get_text,
    iterate_nodes,
    parse_call,
)
from coevo.languages.java.reading.source import get_annotation_values, parse_java_source
from coevo.languages.java.reading.tokens import JAVA
from coevo.model.records import TestMethod

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
