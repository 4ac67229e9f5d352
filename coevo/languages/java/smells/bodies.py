"""Test smells of a test's statements.

Definitions: testsmells.org and the source of tsDetect 2.2, whose thresholds are all zero here: one
occurrence is the smell. Lambdas belong to a test, methods of local and anonymous classes do not.
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
    """An if, a switch, a `?:` or a loop.

    tsDetect has no `do`. In a @TestFactory of JUnit 5 only lambdas are judged: the rest makes tests.
    """
    roots: Iterator[Node] = iter([test.body])
    if 'TestFactory' in test.member.annotations:
        below = iterate_nodes(test.body, classes=False)
        roots = (node for node in below if node.type == 'lambda_expression')
    return any(
        node.type in _CONTROL for root in roots for node in iterate_nodes(root, classes=False)
    )


def is_empty_test(test: JavaTest) -> bool:
    """No statement: comments at most."""
    return not list_named_children(test.body)


def is_exception_handling(test: JavaTest) -> bool:
    """A catch clause or a throw statement.

    tsDetect 2.2 counts a `throws` clause too, its documentation does not: the exception then goes to
    the framework, as the smell asks for. JUnit 5's assertThrows is no handling.
    """
    return any(node.type in _EXCEPTIONS for node in iterate_nodes(test.body, classes=False))


def is_redundant_print(test: JavaTest) -> bool:
    """A print to System.out or, which tsDetect does not look for, to System.err."""
    return any(
        call.name in _PRINTING
        and call.receiver is not None
        and normalise_node(call.receiver) in _STREAMS
        for call in find_calls(test.body)
    )


def is_sleepy_test(test: JavaTest) -> bool:
    """Thread.sleep, or TimeUnit's, which tsDetect does not look for."""
    for call in find_calls(test.body):
        if call.name == 'sleep' and call.receiver is not None:
            receiver = normalise_node(call.receiver)
            if receiver in ('Thread', 'java.lang.Thread') or receiver.startswith(_CLOCKS):
                return True
    return False
