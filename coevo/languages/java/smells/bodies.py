"""Detect test smells of a test's statements.

Definitions: testsmells.org and the source of tsDetect 2.2. All thresholds are zero here: one
occurrence is enough. Lambdas belong to a test; methods of local and anonymous classes do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.java.reading.calls import (
    find_calls,
    iterate_nodes,
    list_named_children,
    normalise_node,
)
from coevo.languages.java.reading.source import JavaTest

_CONTROL = frozenset(
    {
        'if_statement',
        'switch_expression',
        'ternary_expression',
        'for_statement',
        'enhanced_for_statement',
        'while_statement',
        'do_statement',
    }
)
_EXCEPTIONS = frozenset({'catch_clause', 'throw_statement'})
_STREAMS = frozenset({'System.out', 'System.err', 'java.lang.System.out', 'java.lang.System.err'})
_PRINTING = frozenset({'print', 'println', 'printf', 'write'})
_CLOCKS = ('TimeUnit', 'java.util.concurrent.TimeUnit')


def is_conditional_test_logic(test: JavaTest) -> bool:
    """Return whether a test contains an if, a switch, a `?:` or a loop.

    tsDetect does not look for `do`. In a @TestFactory of JUnit 5 only lambdas are checked, since
    the other statements create the tests.
    """
    roots: Iterator[Node] = iter([test.body])
    if 'TestFactory' in test.member.annotations:
        below = iterate_nodes(test.body, classes=False)
        roots = (node for node in below if node.type == 'lambda_expression')
    return any(
        node.type in _CONTROL for root in roots for node in iterate_nodes(root, classes=False)
    )


def is_empty_test(test: JavaTest) -> bool:
    """Return whether a test has no statements; comments do not count."""
    return not list_named_children(test.body)


def is_exception_handling(test: JavaTest) -> bool:
    """Return whether a test has a catch clause or a throw statement.

    tsDetect 2.2 counts a `throws` clause too, contrary to its documentation: such an exception goes
    to the framework, as the smell recommends. JUnit 5's assertThrows does not count.
    """
    return any(node.type in _EXCEPTIONS for node in iterate_nodes(test.body, classes=False))


def is_redundant_print(test: JavaTest) -> bool:
    """Return whether a test prints to System.out or, unlike tsDetect, to System.err."""
    return any(
        call.name in _PRINTING
        and call.receiver is not None
        and normalise_node(call.receiver) in _STREAMS
        for call in find_calls(test.body)
    )


def is_sleepy_test(test: JavaTest) -> bool:
    """Return whether a test calls Thread.sleep or, unlike tsDetect, TimeUnit's `sleep`."""
    for call in find_calls(test.body):
        if call.name == 'sleep' and call.receiver is not None:
            receiver = normalise_node(call.receiver)
            if receiver in ('Thread', 'java.lang.Thread') or receiver.startswith(_CLOCKS):
                return True
    return False
