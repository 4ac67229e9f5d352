"""Find assertions in a piece of Java by name: JUnit 3 to 6, TestNG, Hamcrest, AssertJ and Truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from coevo.languages.java.assertions.style import ARITY
from coevo.languages.java.reading.calls import JavaCall, find_calls, find_chained_calls, get_text

GROUP = 'assertAll'
DESCRIBING = frozenset({'as', 'describedAs', 'withFailMessage', 'overridingErrorMessage'})
"""Links of an AssertJ chain that set a message."""
_TRUTH = frozenset({'assertWithMessage', 'assert_'})


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion:
    """A call of a library's assertion; `links` are the calls chained to it, such as the checks."""

    call: JavaCall
    links: tuple[JavaCall, ...] = ()

    @property
    def name(self) -> str:
        """The name of the first call."""
        return self.call.name

    @property
    def is_fluent(self) -> bool:
        """True if the checks follow in a chain, as in AssertJ and Truth."""
        return self.name not in ARITY or (self.name == 'assertThat' and bool(self.links))

    @property
    def is_in_truth_style(self) -> bool:
        """True for Truth's longer form, where the subject is in the chain, in `that(x)`."""
        return self.name in _TRUTH

    @cached_property
    def has_message(self) -> bool:
        """True if a link of the chain, or its start in Truth, sets a message."""
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
    """Yield assertions of known libraries, outer ones before those in their lambdas.

    `assertAll` is not included; see `find_assertion_groups`.
    """
    for call in find_calls(node, classes=classes):
        if call.name in ARITY or call.name in _TRUTH or call.name.startswith('assertThat'):
            yield Assertion(call=call, links=find_chained_calls(call))
        elif call.name == 'then' and call.receiver is None and (links := find_chained_calls(call)):
            yield Assertion(call=call, links=links)


def find_assertion_groups(node: Node) -> Iterator[JavaCall]:
    """Yield the `assertAll` calls."""
    return (call for call in find_calls(node) if call.name == GROUP)


def is_oracle(call: JavaCall) -> bool:
    """Return whether a call can fail a test by itself: assertions, verified mocks and expectations.

    Helpers whose names start with `assert` or `verify` count too.
    """
    if call.name == 'fail' or call.name.startswith(('assert', 'verify', 'andExpect')):
        return True
    if call.name == 'then':
        return call.receiver is None and bool(find_chained_calls(call))
    return call.name.startswith(('expect', 'should')) and call.receiver is not None


def is_oracle_reference(node: Node) -> bool:
    """Return whether a node refers to a method that asserts, such as `this::assertValid`."""
    if node.type != 'method_reference':
        return False
    return get_text(node.children[-1]).startswith(('assert', 'verify'))
