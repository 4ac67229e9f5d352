"""The assertions in a piece of Java: JUnit 3 to 6, TestNG, Hamcrest, AssertJ and Truth, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from coevo.languages.java.assertions.style import ARITY
from coevo.languages.java.reading.calls import JavaCall, find_calls, find_chained_calls, get_text

GROUP = 'assertAll'
DESCRIBING = frozenset({'as', 'describedAs', 'withFailMessage', 'overridingErrorMessage'})
"""Links of an AssertJ chain that give a message."""
_TRUTH = frozenset({'assertWithMessage', 'assert_'})


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion:
    """A call of a library's assertion; links are the checks and more that follow in a chain."""

    call: JavaCall
    links: tuple[JavaCall, ...] = ()

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def is_fluent(self) -> bool:
        """Whether the checks follow in a chain, as in AssertJ and Truth."""
        return self.name not in ARITY or (self.name == 'assertThat' and bool(self.links))

    @property
    def is_in_truth_style(self) -> bool:
        """Whether it starts in Truth's longer way: the subject is then in the chain, in `that(x)`."""
        return self.name in _TRUTH

    @cached_property
    def has_message(self) -> bool:
        """Whether a link of the chain, or its start in Truth, gives a message."""
        named = self.name == 'assertWithMessage' or bool({'withMessage'} & self._link_names)
        return named or not DESCRIBING.isdisjoint(self._link_names)

    @property
    def _link_names(self) -> set[str]:
        return {link.name for link in self.links}

    @property
    def whole_node(self) -> Node:
        """The node from the first call to the end of the chain."""
        return self.links[-1].node if self.links else self.call.node


def find_assertions(node: Node, *, classes: bool = False) -> Iterator[Assertion]:
    """Assertions of known libraries, outer ones before those in their lambdas; no `assertAll`."""
    for call in find_calls(node, classes=classes):
        if call.name in ARITY or call.name in _TRUTH or call.name.startswith('assertThat'):
            yield Assertion(call=call, links=find_chained_calls(call))
        elif call.name == 'then' and call.receiver is None and (links := find_chained_calls(call)):
            yield Assertion(call=call, links=links)


def find_assertion_groups(node: Node) -> Iterator[JavaCall]:
    return (call for call in find_calls(node) if call.name == GROUP)


def is_oracle(call: JavaCall) -> bool:
    """Whether a call may fail a test by itself: assertions, verified mocks and expectations.

    A helper whose name says that it asserts or verifies is one too.
    """
    if call.name == 'fail' or call.name.startswith(('assert', 'verify', 'andExpect')):
        return True
    if call.name == 'then':
        return call.receiver is None and bool(find_chained_calls(call))
    return call.name.startswith(('expect', 'should')) and call.receiver is not None


def is_oracle_reference(node: Node) -> bool:
    """Whether a node is a reference to a method that asserts: `this::assertValid`."""
    if node.type != 'method_reference':
        return False
    return get_text(node.children[-1]).startswith(('assert', 'verify'))
