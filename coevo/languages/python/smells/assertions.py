"""Test smells of assertions.

Definitions: T. Wang, Y. Golubev, O. Smirnov, J. Li, T. Bryksin, I. Ahmed: PyNose: A Test Smell
Detector For Python (ASE 2021), and its source (branch ASE2021). Differences are stated at each
smell. PyNose analyses unittest only; here `assert` and `self.assert…` are treated alike in tests of
both frameworks.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.python.assertions import list_assertions
from coevo.languages.python.smells.source import (
    PythonTest,
    get_normalised_text,
    get_text,
    list_decorator_texts,
    walk_descendants,
)

# The literal that makes each of these assertions redundant.
_ONE = {
    'assertTrue': 'True',
    'assertFalse': 'False',
    'assertIsNone': 'None',
    'assertIsNotNone': 'None',
}
_TWO = frozenset(
    {
        *('assertEqual', 'assertNotEqual', 'assertIs', 'assertIsNot', 'assertIn', 'assertNotIn'),
        *('assertAlmostEqual', 'assertNotAlmostEqual', 'assertGreater', 'assertGreaterEqual'),
        *('assertLess', 'assertLessEqual', 'assertCountEqual', 'assertMultiLineEqual'),
        *('assertSequenceEqual', 'assertListEqual', 'assertTupleEqual', 'assertSetEqual'),
        'assertDictEqual',
    }
)
_COMPARED = frozenset({'==', '!=', '>', '>=', '<', '<=', 'is'})
_LITERALS = frozenset(
    {'integer', 'float', 'true', 'false', 'none', 'string', 'concatenated_string'}
)
_CONSTANTS = frozenset({'true', 'false', 'none'})
_OPERATIONS = frozenset({'comparison_operator', 'boolean_operator', 'binary_operator'})
_TRUTH = frozenset({'assertTrue', 'assertFalse'})
_EQUALITY = frozenset({'assertEqual', 'assertNotEqual', 'assertIs', 'assertIsNot'})
_FAILS = ('unittest.expectedFailure', 'expectedFailure', 'pytest.mark.xfail')


def is_assertion_roulette(test: PythonTest) -> bool:
    """Return whether a test has two or more assertions, at least one of them without a message.

    PyNose counts statements and calls separately, and reports one of each whatever their messages.
    """
    mute = [len(_list_arguments(node)) < 2 for node in _find_assert_statements(test)]
    for node in _find_assert_calls(test):
        most = 2 if _get_called_name(node) in _TWO else 1
        if _get_called_name(node) in _TWO or _get_called_name(node) in _ONE:
            mute.append(len(_list_arguments(node)) <= most and not _has_message(node))
    return len(mute) > 1 and any(mute)


def is_duplicate_assert(test: PythonTest) -> bool:
    """Return whether a test asserts one condition twice, or repeats an asserting call exactly."""
    texts = [
        *(
            f'assert {get_normalised_text(_list_arguments(node)[0])}'
            for node in _find_assert_statements(test)
        ),
        *(get_normalised_text(node) for node in _find_assert_calls(test)),
    ]
    return len(set(texts)) < len(texts)


def is_redundant_assertion(test: PythonTest) -> bool:
    """Return whether an assertion is about a literal, as `assert True`, or has two equal sides."""
    return any(_is_redundant(node) for node in _find_assert_statements(test)) or any(
        _is_redundant_call(node) for node in _find_assert_calls(test)
    )


def is_magic_number_test(test: PythonTest) -> bool:
    """Return whether a number is a positional argument of an assertion, or a side of its condition.

    The later plug-in excludes small numbers and 100; the paper does not.
    """
    sides = [_strip_parentheses(_list_arguments(node)[0]) for node in _find_assert_statements(test)]
    compared = [
        part
        for side in sides
        for part in ((side, *side.named_children) if side.type in _OPERATIONS else (side,))
    ]
    arguments = [
        argument for node in _find_assert_calls(test) for argument in _list_arguments(node)
    ]
    return any(map(_is_number, (*compared, *arguments)))


def is_suboptimal_assert(test: PythonTest) -> bool:
    """Return whether an assertion has a better alternative in unittest.

    These are assertTrue or assertFalse of an operation, and equality with True, False or None.
    """
    for node in _find_assert_calls(test):
        arguments = _list_arguments(node)
        if (
            _get_called_name(node) in _TRUTH
            and arguments
            and _strip_parentheses(arguments[0]).type in _OPERATIONS
        ):
            return True
        constant = any(argument.type in _CONSTANTS for argument in arguments)
        if _get_called_name(node) in _EQUALITY and len(arguments) > 1 and constant:
            return True
    return False


def is_unknown_test(test: PythonTest) -> bool:
    """Return whether the test asserts nothing and expects no exception.

    PyNose looks for `assert` and for names that contain it. Here an expected exception also counts,
    by `pytest.raises` or by a decorator.
    """
    if any(decorator.startswith(_FAILS) for decorator in list_decorator_texts(test.function)):
        return False
    if list_assertions(get_text(test.function)):
        return False
    calls = (node for node in walk_descendants(test.body) if node.type == 'call')
    return not any('assert' in _get_called_name(node).lower() for node in calls)


def _find_assert_statements(test: PythonTest) -> Iterator[Node]:
    for node in walk_descendants(test.body):
        if node.type == 'assert_statement' and _list_arguments(node):
            yield node


def _find_assert_calls(test: PythonTest) -> Iterator[Node]:
    for node in walk_descendants(test.body):
        function = node.child_by_field_name('function') if node.type == 'call' else None
        if function is not None and get_text(function).startswith(('self.assert', 'self.fail')):
            yield node


def _get_called_name(call: Node) -> str:
    function = call.child_by_field_name('function')
    return get_text(function).rpartition('.')[2] if function is not None else ''


def _list_arguments(node: Node) -> list[Node]:
    """Return the positional arguments of a call; of an assert statement condition and message."""
    listed = node.child_by_field_name('arguments') if node.type == 'call' else node
    children = listed.named_children if listed is not None else []
    return [child for child in children if child.type not in ('keyword_argument', 'comment')]


def _has_message(call: Node) -> bool:
    listed = call.child_by_field_name('arguments')
    names = [
        argument.child_by_field_name('name')
        for argument in (listed.named_children if listed is not None else ())
        if argument.type == 'keyword_argument'
    ]
    return any(name is not None and get_text(name) == 'msg' for name in names)


def _is_redundant(statement: Node) -> bool:
    condition = _strip_parentheses(_list_arguments(statement)[0])
    if condition.type != 'comparison_operator':
        return condition.type in _LITERALS
    sides = condition.named_children
    operators = [get_normalised_text(child) for child in condition.children if not child.is_named]
    same = len(sides) == 2 and get_normalised_text(sides[0]) == get_normalised_text(sides[1])
    return same and len(operators) == 1 and operators[0] in _COMPARED


def _is_redundant_call(call: Node) -> bool:
    arguments, name = (
        [get_normalised_text(argument) for argument in _list_arguments(call)],
        _get_called_name(call),
    )
    if name in _ONE:
        return arguments[:1] == [_ONE[name]]
    return name in _TWO and len(arguments) > 1 and arguments[0] == arguments[1]


def _strip_parentheses(node: Node) -> Node:
    """Return the expression inside any parentheses around it; other expressions unchanged."""
    while node.type == 'parenthesized_expression' and node.named_children:
        node = node.named_children[0]
    return node


def _is_number(node: Node) -> bool:
    bare = _strip_parentheses(node)
    if bare.type == 'unary_operator':
        return any(child.type in ('integer', 'float') for child in bare.named_children)
    return bare.type in ('integer', 'float')
