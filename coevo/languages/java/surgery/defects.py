"""Defects in tests of Java. Fulfils `coevo.languages.defects.DefectInsertion`."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from tree_sitter import Node

from coevo.languages.declarations import Member
from coevo.languages.java.assertions.found import assertions_in
from coevo.languages.java.reading.calls import calls_in
from coevo.languages.java.reading.calls import inside
from coevo.languages.java.reading.calls import named
from coevo.languages.java.reading.source import JavaSource
from coevo.languages.java.reading.source import read_source
from coevo.languages.text_edits import TextEdits
from coevo.languages.text_edits import replaced
from coevo.languages.text_edits import without
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNRESOLVED = frozenset({Outcome.COMPILE_ERROR})

_THROWS = b' ((Object) null).hashCode();'
_ARGUMENT = b'null'

Insert = Callable[[JavaSource, bytes, Member, Sequence[Member]], Iterator[bytes]]
"""From a file, a test of it and all its tests to texts with a defect."""


def defective(kind: Defect, source: bytes, tests: Sequence[Member]) -> Iterator[bytes]:
    if kind is Defect.MISSED_DEPENDENCIES:
        yield from _without_import(source)
        return
    file = read_source(source)
    for test in tests:
        yield from _INSERTIONS[kind](file, source, test, tests)


def _without_import(source: bytes) -> Iterator[bytes]:
    for one in read_source(source).file.imports:
        if one.name != '*':
            yield without(source, one.start_byte, one.end_byte)


def _missed_asserts(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """All assertions that are statements of their own."""
    edits, found = TextEdits(source), False
    for one in assertions_in(file.node(test)):
        statement = one.whole.parent
        if statement is not None and statement.type == 'expression_statement':
            edits.cut(statement.start_byte, statement.end_byte)
            found = True
    if found:
        yield edits.result()


def _no_new_logic(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """The body of another test in place of its own."""
    body = _body(file, test)
    for other in tests:
        another = _body(file, other)
        if body is not None and another is not None and other is not test:
            yield replaced(source, body.start_byte, body.end_byte, another.text or b'')
            return


def _undefined_entity(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """A name that nothing has, where something is called or handed over."""
    for call in calls_in(_node(file, test)):
        for one in (call.receiver, *call.arguments):
            if one is not None and one.type == 'identifier':
                yield replaced(source, one.end_byte, one.end_byte, b'Undefined')
                return


def _invalid_call(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """One argument more than a method takes."""
    asserted = {one.call.node.id for one in assertions_in(file.node(test))}
    for call in calls_in(_node(file, test)):
        arguments = call.node.child_by_field_name('arguments')
        if arguments is not None and call.node.id not in asserted:
            yield _with_argument(source, arguments)
            return


def _invalid_constructor(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    for node in inside(_node(file, test), classes=False):
        arguments = node.child_by_field_name('arguments')
        if node.type == 'object_creation_expression' and arguments is not None:
            yield _with_argument(source, arguments)
            return


def _runtime_error(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    body = _body(file, test)
    if body is not None:
        at = body.start_byte + 1
        yield source[:at] + _THROWS + source[at:]


def _duplicate_entity(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    edits = TextEdits(source)
    edits.insert(test.end_byte, b'\n\n    ' + source[test.start_byte : test.end_byte])
    yield edits.result()


def _syntax_error(
    file: JavaSource, source: bytes, test: Member, tests: Sequence[Member]
) -> Iterator[bytes]:
    """The last statement of a test without what ends it."""
    body = _body(file, test)
    statements = named(body) if body is not None else []
    if statements:
        yield source[: statements[-1].end_byte - 1] + source[statements[-1].end_byte :]


_INSERTIONS: Mapping[Defect, Insert] = {
    Defect.MISSED_ASSERTS: _missed_asserts,
    Defect.NO_NEW_COVERED_LOGIC: _no_new_logic,
    Defect.UNDEFINED_ENTITY: _undefined_entity,
    Defect.INVALID_CALL: _invalid_call,
    Defect.INVALID_CONSTRUCTOR: _invalid_constructor,
    Defect.RUNTIME_ERRORS: _runtime_error,
    Defect.DUPLICATE_ENTITY: _duplicate_entity,
    Defect.SYNTAX_ERROR: _syntax_error,
}


def _node(file: JavaSource, test: Member) -> Node:
    """Its body, or the whole of what has none."""
    return _body(file, test) or file.node(test)


def _body(file: JavaSource, test: Member) -> Node | None:
    return file.node(test).child_by_field_name('body')


def _with_argument(source: bytes, arguments: Node) -> bytes:
    at = arguments.end_byte - 1
    more = b', ' + _ARGUMENT if named(arguments) else _ARGUMENT
    return source[:at] + more + source[at:]
