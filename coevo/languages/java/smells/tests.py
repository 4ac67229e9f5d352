"""Detect test smells of a test's statements and of its class, attributed to the test methods."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.java.reading.source import (
    JavaTest,
    find_calls,
    get_annotation_values,
    get_text,
    iterate_nodes,
    list_children_without_comments,
    normalise_node,
)

# Definitions: testsmells.org and the source of tsDetect 2.2. All thresholds are zero here: one
# occurrence is enough. Lambdas belong to a test; methods of local and anonymous classes do not.

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
        below = iterate_nodes(test.body, into_local_classes=False)
        roots = (node for node in below if node.type == 'lambda_expression')
    return any(
        node.type in _CONTROL
        for root in roots
        for node in iterate_nodes(root, into_local_classes=False)
    )


def is_empty_test(test: JavaTest) -> bool:
    """Return whether a test has no statements; comments do not count."""
    return not list_children_without_comments(test.body)


def is_exception_handling(test: JavaTest) -> bool:
    """Return whether a test has a catch clause or a throw statement.

    tsDetect 2.2 counts a `throws` clause too, contrary to its documentation: such an exception goes
    to the framework, as the smell recommends. JUnit 5's assertThrows does not count.
    """
    return any(
        node.type in _EXCEPTIONS for node in iterate_nodes(test.body, into_local_classes=False)
    )


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


_DEFAULT_CLASSES = frozenset({'ExampleUnitTest', 'ExampleInstrumentedTest'})
_IGNORING = frozenset({'Ignore', 'Disabled'})
_SET_UP = frozenset({'Before', 'BeforeEach', 'BeforeMethod'})


def is_constructor_initialization(test: JavaTest) -> bool:
    """Return whether the test's class, or one enclosing it, declares a constructor.

    Concerns all tests of the class. tsDetect checks the main class of the file. Constructors whose
    parameters a runner fills do not count: those under @RunWith, such as JUnit 4's Parameterized
    and Theories, and all in JUnit 5.
    """
    return any(
        member.kind == 'constructor'
        and not (member.parameters and _gets_parameters_from_runner(test, type_))
        for type_ in test.file.list_type_and_enclosing_types(test.type)
        for member in type_.members
    )


def is_default_test(test: JavaTest) -> bool:
    """Return whether the test's class, or one enclosing it, has a default name of Android Studio.

    Then all tests of the class have the smell.
    """
    return any(
        type_.simple in _DEFAULT_CLASSES
        for type_ in test.file.list_type_and_enclosing_types(test.type)
    )


def is_ignored_test(test: JavaTest) -> bool:
    """Return whether a test or an enclosing class has @Ignore, @Disabled or `enabled = false`.

    tsDetect also treats methods `test…` that are not public as ignored; here these are either no
    tests or JUnit 5 runs them. Conditions such as @DisabledOnOs do not count. The other smells of
    an ignored test are reported as well.
    """
    types = test.file.list_type_and_enclosing_types(test.type)
    annotations = {*test.member.annotations, *(name for t in types for name in t.annotations)}
    if not _IGNORING.isdisjoint(annotations):
        return True
    nodes = (test.node, *map(test.file.find_node, types))
    return any(get_annotation_values(node, 'Test').get('enabled') == 'false' for node in nodes)


def is_general_fixture(test: JavaTest) -> bool:
    """Return whether the class's set-up assigns a field that this test does not use.

    Set-up is setUp, @Before, JUnit 5's @BeforeEach and TestNG's @BeforeMethod. Unlike in tsDetect,
    a use in a method of the class that the test calls counts, and so does an assignment to
    `this.x`.
    """
    assigned = {
        name
        for member in _find_set_up_methods(test.type)
        for name in _find_assigned_fields(test, member)
    }
    return not assigned <= _find_used_names(test)


def _gets_parameters_from_runner(test: JavaTest, type_: DeclaredType) -> bool:
    if 'RunWith' in type_.annotations:
        return True
    return test.file.imports_any_of('org.junit.jupiter')


def _find_set_up_methods(type_: DeclaredType) -> Iterator[Member]:
    for member in type_.members:
        named = member.name == 'setUp' and not member.parameters
        if member.kind == 'method' and (named or not _SET_UP.isdisjoint(member.annotations)):
            yield member


def _find_assigned_fields(test: JavaTest, member: Member) -> Iterator[str]:
    """Yield the class's fields that a method assigns in its top-level statements.

    Assignments in nested blocks do not count.
    """
    fields = {m.name for m in test.type.members if m.kind == 'field'}
    body = test.file.find_node(member).child_by_field_name('body')
    for statement in body.named_children if body is not None else ():
        for expression in statement.named_children:
            if statement.type == 'expression_statement' and _is_assignment(expression):
                left = expression.child_by_field_name('left')
                name = get_text(left).removeprefix('this.') if left is not None else ''
                if name in fields:
                    yield name


def _is_assignment(expression: Node) -> bool:
    return expression.type == 'assignment_expression'


def _find_used_names(test: JavaTest) -> set[str]:
    """Return the identifiers in a test and in the methods of its class that it calls.

    Methods that these call count as well; set-up methods do not.
    """
    set_up = {member.start_byte for member in _find_set_up_methods(test.type)}
    methods = [m for m in test.type.members if m.kind == 'method' and m.start_byte not in set_up]
    names: set[str] = set()
    waiting = {test.member.start_byte: test.member}
    seen = set(waiting)
    while waiting:
        _, member = waiting.popitem()
        nodes = iterate_nodes(test.file.find_node(member), into_local_classes=True)
        names |= {get_text(node) for node in nodes if node.type == 'identifier'}
        called = [m for m in methods if m.name in member.calls and m.start_byte not in seen]
        waiting |= {other.start_byte: other for other in called}
        seen |= {other.start_byte for other in called}
    return names
