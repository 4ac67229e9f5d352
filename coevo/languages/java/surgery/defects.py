"""Insert defects into Java tests; implements `coevo.languages.measures.DefectInsertion`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node

from coevo.languages.declarations import Member
from coevo.languages.java.assertion_calls import find_assertions
from coevo.languages.java.reading.source import (
    JavaSource,
    find_calls,
    iterate_nodes,
    list_children_without_comments,
    parse_java_source,
)
from coevo.languages.text_edits import TextEdits, remove_span, replace_span
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNKNOWN_NAME_OUTCOMES = frozenset({Outcome.COMPILE_ERROR})

_THROWS = b' ((Object) null).hashCode();'
_ARGUMENT = b'null'

Insert = Callable[[JavaSource, bytes, Member, Sequence[Member]], Iterator[bytes]]
"""Takes a parsed file, its text, a test and all tests; yields texts with a defect."""


def insert_defects(kind: Defect, source: bytes, tests: Sequence[Member]) -> Iterator[bytes]:
    """Yield versions of a test file, each with one defect of the given kind.

    For MISSED_DEPENDENCIES, each version lacks one import. For the other kinds there is at most one
    version for each test; it is missing if the defect does not fit the test.
    """
    if kind is Defect.MISSED_DEPENDENCIES:
        yield from _remove_import(source)
        return
    file = parse_java_source(source)
    for test in tests:
        yield from _INSERTIONS[kind](file, source, test, tests)


def _remove_import(source: bytes) -> Iterator[bytes]:
    for item in parse_java_source(source).file.imports:
        if item.name != '*':
            yield remove_span(source, item.start_byte, item.end_byte)


def _remove_assertions(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """Yield the file without the test's assertions that are statements; nothing without any."""
    edits, removed_any = TextEdits(source), False
    for assertion in find_assertions(file.find_node(test)):
        statement = assertion.whole_node.parent
        if statement is not None and statement.type == 'expression_statement':
            edits.cut_span(statement.start_byte, statement.end_byte)
            removed_any = True
    if removed_any:
        yield edits.apply_edits()


def _copy_other_body(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """Yield the file with the body of the first other test in place of this test's body."""
    body = _get_body(file, test)
    for other in tests:
        another = _get_body(file, other)
        if body is not None and another is not None and other is not test:
            yield replace_span(source, body.start_byte, body.end_byte, another.text or b'')
            return


def _insert_undefined_name(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """Yield the file with the first name used as a receiver or argument made undefined."""
    for call in find_calls(_get_body_or_node(file, test)):
        for node in (call.receiver, *call.arguments):
            if node is not None and node.type == 'identifier':
                yield replace_span(source, node.end_byte, node.end_byte, b'Undefined')
                return


def _add_call_argument(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """Yield the file with one argument too many in the test's first call that is no assertion."""
    asserted = {assertion.call.node.id for assertion in find_assertions(file.find_node(test))}
    for call in find_calls(_get_body_or_node(file, test)):
        arguments = call.node.child_by_field_name('arguments')
        if arguments is not None and call.node.id not in asserted:
            yield _insert_argument(source, arguments)
            return


def _add_constructor_argument(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    for node in iterate_nodes(_get_body_or_node(file, test), into_local_classes=False):
        arguments = node.child_by_field_name('arguments')
        if node.type == 'object_creation_expression' and arguments is not None:
            yield _insert_argument(source, arguments)
            return


def _insert_runtime_error(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    body = _get_body(file, test)
    if body is not None:
        at = body.start_byte + 1
        yield source[:at] + _THROWS + source[at:]


def _duplicate_test(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    edits = TextEdits(source)
    edits.insert(test.end_byte, b'\n\n    ' + source[test.start_byte : test.end_byte])
    yield edits.apply_edits()


def _insert_syntax_error(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """Yield the file without the last character, such as `;`, of the test's last statement."""
    body = _get_body(file, test)
    statements = list_children_without_comments(body) if body is not None else []
    if statements:
        yield source[: statements[-1].end_byte - 1] + source[statements[-1].end_byte :]


_INSERTIONS: Mapping[Defect, Insert] = {
    Defect.MISSED_ASSERTS: _remove_assertions,
    Defect.NO_NEW_COVERED_LOGIC: _copy_other_body,
    Defect.UNDEFINED_ENTITY: _insert_undefined_name,
    Defect.INVALID_CALL: _add_call_argument,
    Defect.INVALID_CONSTRUCTOR: _add_constructor_argument,
    Defect.RUNTIME_ERRORS: _insert_runtime_error,
    Defect.DUPLICATE_ENTITY: _duplicate_test,
    Defect.SYNTAX_ERROR: _insert_syntax_error,
}


def _get_body_or_node(file: JavaSource, test: Member) -> Node:
    """Return the test's body, or the whole declaration if it has none."""
    return _get_body(file, test) or file.find_node(test)


def _get_body(file: JavaSource, test: Member) -> Node | None:
    return file.find_node(test).child_by_field_name('body')


def _insert_argument(source: bytes, arguments: Node) -> bytes:
    at = arguments.end_byte - 1
    more = b', ' + _ARGUMENT if list_children_without_comments(arguments) else _ARGUMENT
    return source[:at] + more + source[at:]
