"""Detect test smells of assertions.

Definitions: testsmells.org and the source of tsDetect 2.2; deviations are stated in the docstrings.
For all of them, the message is at the library's position (see
`coevo.languages.java.assertion_calls`), assertions of JUnit 5, TestNG, AssertJ and Truth count,
and the arguments in an AssertJ or Truth chain are arguments of its assertion.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.java.assertion_calls import (
    Assertion,
    find_assertion_groups,
    find_assertions,
    find_message_argument,
    has_message_last,
    is_number,
    is_oracle,
    is_oracle_reference,
)
from coevo.languages.java.reading.source import (
    JavaTest,
    find_calls,
    get_annotation_values,
    get_text,
    iterate_nodes,
    list_children_without_comments,
    normalise_node,
)

_WITHOUT_NUMBERS = frozenset({'assertTrue', 'assertFalse', 'fail'})
_EQUALITIES = frozenset(
    {'isEqualTo', 'isSameAs', 'isSameInstanceAs', 'isNotEqualTo', 'isNotSameAs'}
)
_MATCHERS = frozenset({'is', 'equalTo', 'sameInstance'})
_LITERALS = frozenset({'true', 'false', 'null_literal'})
_BY_LITERAL = frozenset({'assertTrue', 'assertFalse', 'assertNull', 'assertNotNull'})
_BY_CHAIN = frozenset({'isTrue', 'isFalse', 'isNull', 'isNotNull'})


def is_assertion_roulette(test: JavaTest) -> bool:
    """Return whether a test has two or more assertions, at least one of them without a message.

    An `assertAll` counts as one assertion with a message, since it reports each of its parts.
    """
    grouped = [group.node for group in find_assertion_groups(test.body)]
    single = [
        a for a in _find_assertions(test) if not any(_is_within(a.call.node, g) for g in grouped)
    ]
    mute = [a for a in single if not a.has_message_in_chain and _find_message(test, a) is None]
    return len(single) + len(grouped) > 1 and bool(mute)


def is_duplicate_assert(test: JavaTest) -> bool:
    """Return whether the same assertion with equal arguments, or the same message, occurs twice.

    tsDetect compares chains only by their `assertThat(x)` and treats the first of three arguments
    as the message; here the whole chain is compared.
    """
    assertions = list(_find_assertions(test))
    whole = [normalise_node(assertion.whole_node) for assertion in assertions]
    messages = [m for a in assertions if (m := _find_message(test, a)) is not None]
    texts = [normalise_node(message) for message in messages]
    return len(set(whole)) < len(whole) or len(set(texts)) < len(texts)


def is_redundant_assertion(test: JavaTest) -> bool:
    """Return whether an assertion can only have one result.

    It checks a literal, as `assertTrue(true)`, or compares an expression with itself.
    """
    return any(_is_redundant(test, assertion) for assertion in _find_assertions(test))


def is_sensitive_equality(test: JavaTest) -> bool:
    """Return whether `toString` occurs in the arguments of an assertion or an asserting helper.

    AssertJ's `hasToString` counts too.
    """
    for call in find_calls(test.body):
        asserts = call.name == 'fail' or call.name.startswith('assert')
        if asserts and any(map(_mentions_to_string, call.arguments)):
            return True
    links = (link for assertion in _find_assertions(test) for link in assertion.links)
    return any(
        link.name == 'hasToString' or any(map(_mentions_to_string, link.arguments))
        for link in links
    )


def is_magic_number_test(test: JavaTest) -> bool:
    """Return whether an assertion has a numeric literal as an argument, directly or in a call.

    `assertEquals(x, 5)` and `assertEquals(x, of(5))` do. tsDetect 2.2 finds this smell in every
    test, since it compares with `>= 0`; here the definition is followed. As in tsDetect, a delta
    counts and conditions of assertTrue do not.
    """
    for assertion in _find_assertions(test):
        if assertion.name not in _WITHOUT_NUMBERS and any(
            map(_holds_number, _list_arguments(assertion))
        ):
            return True
    return False


def is_unknown_test(test: JavaTest) -> bool:
    """Return whether a test has nothing that can fail it: no assertion and no expected exception.

    tsDetect only knows calls named `assert…` and `fail`. Here checks of mocks, expectations,
    `assert` statements, references to assertions, and bodies of anonymous classes are looked at
    too.
    """
    for annotation in ('Test', 'Property'):
        if {'expected', 'expectedExceptions'} & get_annotation_values(test.node, annotation).keys():
            return False
    if any(is_oracle(call) for call in find_calls(test.body, into_local_classes=True)):
        return False
    nodes = iterate_nodes(test.body, into_local_classes=True)
    return not any(n.type == 'assert_statement' or is_oracle_reference(n) for n in nodes)


def _find_assertions(test: JavaTest) -> Iterator[Assertion]:
    return find_assertions(test.body)


def _find_message(test: JavaTest, assertion: Assertion) -> Node | None:
    last = has_message_last(assertion.call, test.file.file)
    return find_message_argument(assertion.call, last=last, variables=test.variables)


def _is_within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _list_arguments(assertion: Assertion) -> list[Node]:
    return [node for call in (assertion.call, *assertion.links) for node in call.arguments]


def _holds_number(argument: Node) -> bool:
    below = argument.child_by_field_name('arguments')
    return is_number(argument) or (
        below is not None and any(map(is_number, list_children_without_comments(below)))
    )


def _mentions_to_string(argument: Node) -> bool:
    nodes = iterate_nodes(argument, into_local_classes=True)
    return any(node.type == 'identifier' and get_text(node) == 'toString' for node in nodes)


def _is_redundant(test: JavaTest, assertion: Assertion) -> bool:
    message = _find_message(test, assertion)
    sides = [node for node in assertion.call.arguments if node != message][:2]
    if assertion.is_fluent:
        return bool(sides) and _is_redundant_chain(assertion, sides[0])
    if assertion.name in _BY_LITERAL:
        return bool(sides) and sides[0].type in _LITERALS
    if assertion.name == 'assertThat' and len(sides) == 2:
        sides[1] = _unwrap_matcher(sides[1])
    return len(sides) == 2 and normalise_node(sides[0]) == normalise_node(sides[1])


def _is_redundant_chain(assertion: Assertion, subject: Node) -> bool:
    for link in assertion.links:
        if link.name in _BY_CHAIN and subject.type in _LITERALS:
            return True
        same = [node for node in link.arguments if normalise_node(node) == normalise_node(subject)]
        if link.name in _EQUALITIES and same:
            return True
    return False


def _unwrap_matcher(matcher: Node) -> Node:
    """Return the operand of Hamcrest's equality matchers: `x` for `is(equalTo(x))`.

    Any other expression is returned unchanged.
    """
    while matcher.type == 'method_invocation':
        name = matcher.child_by_field_name('name')
        below = matcher.child_by_field_name('arguments')
        inner = list_children_without_comments(below) if below is not None else []
        if name is None or get_text(name) not in _MATCHERS or len(inner) != 1:
            break
        matcher = inner[0]
    return matcher
