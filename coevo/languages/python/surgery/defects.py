"""Insert defects into Python tests. Implements `coevo.languages.measures.DefectInsertion`.

A duplicated test is not among the defects: Python silently replaces the first by the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node, Parser

from coevo.languages.declarations import Member
from coevo.languages.python.assertions import find_assertion_nodes, split_callee
from coevo.languages.python.reading.statements import get_definition, is_text_statement
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.python.surgery.plain_values import walk_own_nodes
from coevo.languages.text_edits import TextEdits, find_indentation, remove_span, replace_span
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNKNOWN_NAME_OUTCOMES = frozenset({Outcome.COMPILE_ERROR, Outcome.ERROR})

_IMPORTS = frozenset({'import_statement', 'import_from_statement'})
_BY_NAME = frozenset({'keyword_argument', 'dictionary_splat'})
_OWN = (b'self', b'cls')
_RAISES = b'None.strip()'

Insert = Callable[[bytes, Node, Sequence[Node]], Iterator[bytes]]
"""From a file, one of its tests and all its tests (their definitions) to texts with a defect."""


def insert_defects(kind: Defect, source: bytes, tests: Sequence[Member]) -> Iterator[bytes]:
    """Yield versions of a test file, each with one defect of the given kind.

    Nothing is yielded for a kind that Python lacks, and for tests that offer no place for it.

    tests  the test methods that get the defect, one at a time; a missing dependency is an import of
           the file
    """
    root = Parser(PYTHON).parse(source).root_node
    if kind is Defect.MISSED_DEPENDENCIES:
        yield from _remove_each_import(source, root)
        return
    insert = _INSERTIONS.get(kind)
    if insert is None:
        return
    functions = [
        function
        for function in (_find_function(root, test) for test in tests)
        if function is not None
    ]
    for test in functions:
        yield from insert(source, test, functions)


def _remove_each_import(source: bytes, root: Node) -> Iterator[bytes]:
    for statement in root.named_children:
        if statement.type in _IMPORTS:
            yield remove_span(source, statement.start_byte, statement.end_byte)


def _remove_asserts(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with all assertion statements of a test removed; nothing if it has none."""
    edits, statements = TextEdits(source), _find_assertion_statements(test)
    ids = {statement.id for statement in statements}
    for statement in statements:
        block = statement.parent
        if block is not None and all(c.id in ids for c in block.named_children):
            edits.replace(statement.start_byte, statement.end_byte, b'pass')
        else:
            edits.cut_span(statement.start_byte, statement.end_byte)
    if statements:
        yield edits.apply_edits()


def _find_assertion_statements(test: Node) -> list[Node]:
    nodes = (_find_own_statement(node) for node in find_assertion_nodes(_get_body(test)))
    return list({node.id: node for node in nodes if node is not None}.values())


def _find_own_statement(oracle: Node) -> Node | None:
    """Return the statement that an assertion consists of.

    None if other statements are inside it, as in `with raises(…)`, or if it is part of another
    expression.
    """
    if oracle.type == 'assert_statement':
        return oracle
    parent = oracle.parent
    return parent if parent is not None and parent.type == 'expression_statement' else None


def _copy_other_body(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with the body of a test replaced by that of another test.

    It is the first one with the same parameters and indentation; nothing is yielded if there is
    none.
    """
    given, margin = _get_parameter_list_text(test), find_indentation(source, test.start_byte)
    for other in tests:
        alike = (
            _get_parameter_list_text(other) == given
            and find_indentation(source, other.start_byte) == margin
        )
        if other.id != test.id and alike:
            body = _get_body(test)
            yield replace_span(source, body.start_byte, body.end_byte, _get_body(other).text or b'')
            return


def _insert_undefined_name(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with an undefined name as the first receiver or argument of a call."""
    for call in _find_calls(test):
        for expression in (_get_receiver(call), *_list_arguments(call)):
            if (
                expression is not None
                and expression.type == 'identifier'
                and expression.text not in _OWN
            ):
                yield replace_span(source, expression.end_byte, expression.end_byte, b'_undefined')
                return


def _insert_invalid_call(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with one argument too many in the first call of a function in a test."""
    yield from _add_argument_to_call(source, test, constructor=False)


def _insert_invalid_constructor_call(
    source: bytes, test: Node, tests: Sequence[Node]
) -> Iterator[bytes]:
    yield from _add_argument_to_call(source, test, constructor=True)


def _add_argument_to_call(source: bytes, test: Node, *, constructor: bool) -> Iterator[bytes]:
    """Yield the file with an argument added to the first call of a test that is of the wanted kind.

    Capitalised names are classes (PEP 8). Assertions are left as they are.

    constructor  whether to choose a call of a class instead of a function
    """
    asserted = {node.id for node in find_assertion_nodes(_get_body(test))}
    for call in _find_calls(test):
        listed = call.child_by_field_name('arguments')
        if call.id in asserted or listed is None or listed.type != 'argument_list':
            continue
        _, name = split_callee(call)
        if name[:1].isupper() is constructor:
            yield _add_argument(source, listed)
            return


def _add_argument(source: bytes, listed: Node) -> bytes:
    """Return the file with `None` added after the positional arguments of a call."""
    arguments = [argument for argument in listed.named_children if argument.type != 'comment']
    placed = [argument for argument in arguments if argument.type not in _BY_NAME]
    if placed:
        at, more = placed[-1].end_byte, b', None'
    else:
        at, more = listed.start_byte + 1, b'None, ' if arguments else b'None'
    return replace_span(source, at, at, more)


def _insert_runtime_error(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    first, *others = (
        statement for statement in _get_body(test).named_children if statement.type != 'comment'
    )
    if is_text_statement(first) and others:
        first = others[0]
    margin = find_indentation(source, first.start_byte)
    after = b'\n' + margin if margin else b'; '
    edits = TextEdits(source)
    edits.insert(first.start_byte, _RAISES + after)
    yield edits.apply_edits()


def _insert_syntax_error(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file without the last token of a test, if that is a syntax error."""
    last = _get_body(test)
    while last.named_children and last.named_children[-1].type != 'comment' and last.child_count:
        last = last.children[-1]
    text = source[: last.start_byte].rstrip(b' ') + source[last.end_byte :]
    if Parser(PYTHON).parse(text).root_node.has_error:
        yield text


_INSERTIONS: Mapping[Defect, Insert] = {
    Defect.MISSED_ASSERTS: _remove_asserts,
    Defect.NO_NEW_COVERED_LOGIC: _copy_other_body,
    Defect.UNDEFINED_ENTITY: _insert_undefined_name,
    Defect.INVALID_CALL: _insert_invalid_call,
    Defect.INVALID_CONSTRUCTOR: _insert_invalid_constructor_call,
    Defect.RUNTIME_ERRORS: _insert_runtime_error,
    Defect.SYNTAX_ERROR: _insert_syntax_error,
}


def _find_function(root: Node, test: Member) -> Node | None:
    node = root.descendant_for_byte_range(test.start_byte, test.end_byte)
    while node is not None and not node.type.endswith('_definition'):
        node = node.parent
    own = get_definition(node) if node is not None else None
    return own if own is not None and own.type == 'function_definition' else None


def _get_body(test: Node) -> Node:
    body = test.child_by_field_name('body')
    assert body is not None, 'the grammar gives each function one'
    return body


def _get_parameter_list_text(test: Node) -> bytes | None:
    listed = test.child_by_field_name('parameters')
    return listed.text if listed is not None else None


def _find_calls(test: Node) -> Iterator[Node]:
    """Yield the calls that the test itself makes, outer ones first."""
    return (node for node in walk_own_nodes(_get_body(test)) if node.type == 'call')


def _get_receiver(call: Node) -> Node | None:
    function = call.child_by_field_name('function')
    if function is None or function.type != 'attribute':
        return None
    return function.child_by_field_name('object')


def _list_arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name('arguments')
    return listed.named_children if listed is not None else []
