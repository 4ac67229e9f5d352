"""Insert defects into Go tests. Implements `coevo.languages.measures.DefectInsertion`.

An unused variable or import does not compile in Go, so a removed assertion leaves its operands, and
imports that are no longer used are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node, Parser

from coevo.languages.declarations import Member
from coevo.languages.golang.assertions import find_assertion_calls, list_arguments
from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.golang.surgery.cuts import repair_imports
from coevo.languages.golang.surgery.pieces import make_outline
from coevo.languages.text_edits import TextEdits, remove_span, replace_span
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNKNOWN_NAME_OUTCOMES = frozenset({Outcome.COMPILE_ERROR})

# An index out of range, which neither the compiler nor vet reports.
_PANICS = b' _ = []int{}[0];'
# Go has no constructors: functions of this prefix make values by convention.
_CONSTRUCTOR = 'New'
_NESTED = frozenset({'func_literal'})
_STATEMENTS = frozenset({'block', 'statement_list'})
# Operands that a blank assignment may not have (nil), or that need none since they name nothing.
_CONSTANT = frozenset(
    (
        *('nil', 'true', 'false', 'int_literal', 'float_literal', 'rune_literal'),
        *('interpreted_string_literal', 'raw_string_literal'),
    )
)

Insert = Callable[[bytes, Node, Sequence[Node]], Iterator[bytes]]
"""From a file, one of its tests and all its tests (their declarations) to texts with a defect."""


def insert_defects(kind: Defect, source: bytes, tests: Sequence[Member]) -> Iterator[bytes]:
    """Yield versions of a test file, each with one defect of the given kind.

    For MISSED_DEPENDENCIES, each version lacks one import. For the other kinds there is at most one
    version for each test; it is missing if the test offers no place for the defect.
    """
    root = Parser(GO).parse(source).root_node
    if kind is Defect.MISSED_DEPENDENCIES:
        yield from _remove_each_import(source, root)
        return
    functions = [
        function
        for function in (_find_function(root, test) for test in tests)
        if function is not None
    ]
    for test in functions:
        yield from _INSERTIONS[kind](source, test, functions)


def _remove_each_import(source: bytes, root: Node) -> Iterator[bytes]:
    for declaration in root.named_children:
        if declaration.type == 'import_declaration':
            specs = [*_walk_nodes(declaration, 'import_spec')]
            for spec in specs:
                removed = declaration if len(specs) == 1 else spec
                yield remove_span(source, removed.start_byte, removed.end_byte)


def _remove_assertions(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with all assertion statements of a test removed; nothing if it has none.

    The condition around `t.Error` stays, with an empty body; of another assertion its operands
    stay, assigned to blanks.
    """
    edits, edited_to = TextEdits(source), 0
    for call, compared in find_assertion_calls(test, source):
        statement = _find_own_statement(call)
        if statement is None or statement.start_byte < edited_to:
            continue  # an assertion within an operand stays there, and is never called
        edited_to = statement.end_byte
        operands = [
            source[node.start_byte : node.end_byte]
            for node in compared
            if node.type not in _CONSTANT
        ]
        if operands:
            blanks = b', '.join([b'_'] * len(operands))
            edits.replace(
                statement.start_byte, statement.end_byte, blanks + b' = ' + b', '.join(operands)
            )
        else:
            edits.cut_span(statement.start_byte, statement.end_byte)
    if edited_to:
        yield repair_imports(edits.apply_edits(), make_outline(source), [])


def _find_own_statement(call: Node) -> Node | None:
    """Return the statement that consists of a call; None if the call is part of another one."""
    parent = call.parent
    if parent is not None and parent.type == 'expression_statement':
        return parent
    return call if parent is not None and parent.type in _STATEMENTS else None


def _copy_other_body(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with the body of a test replaced by that of another test.

    It is the first one with the same parameters; nothing is yielded if there is none.
    """
    for other in tests:
        if other.id != test.id and _get_parameter_list_text(other) == _get_parameter_list_text(
            test
        ):
            body = _get_body(test)
            text = replace_span(
                source, body.start_byte, body.end_byte, _get_body(other).text or b''
            )
            yield repair_imports(text, make_outline(source), [])
            return


def _insert_undefined_name(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with the first name used as an argument or called function made undefined."""
    asserted = {call.id for call, _ in find_assertion_calls(test, source)}
    for call in _walk_nodes(_get_body(test), 'call_expression'):
        function = call.child_by_field_name('function')
        names = list_arguments(call) if call.id in asserted else [function, *list_arguments(call)]
        for node in names:
            is_handed = node is not None and node.text in _get_parameter_names(test)
            if node is not None and node.type == 'identifier' and not is_handed:
                yield replace_span(source, node.end_byte, node.end_byte, b'Undefined')
                return


def _insert_invalid_call(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with one argument too many in the first call of a test."""
    yield from _add_argument_to_call(source, test, constructor=False)


def _insert_invalid_constructor_call(
    source: bytes, test: Node, tests: Sequence[Node]
) -> Iterator[bytes]:
    """Yield the file with one argument too many in the first call of a function `New…`."""
    yield from _add_argument_to_call(source, test, constructor=True)


def _add_argument_to_call(source: bytes, test: Node, *, constructor: bool) -> Iterator[bytes]:
    """Yield the file with an argument added to the first call of the wanted kind, if there is one.

    Assertions and methods of `t` are left as they are.
    """
    asserted = {call.id for call, _ in find_assertion_calls(test, source)}
    for call in _walk_nodes(_get_body(test), 'call_expression'):
        function, listed = (call.child_by_field_name(name) for name in ('function', 'arguments'))
        if function is None or listed is None or call.id in asserted:
            continue
        receiver, _, name = (function.text or b'').rpartition(b'.')
        is_constructor = name.startswith(_CONSTRUCTOR.encode())
        if receiver in _get_parameter_names(test) or is_constructor is not constructor:
            continue
        more = b', nil' if list_arguments(call) else b'nil'
        at = listed.end_byte - 1
        yield replace_span(source, at, at, more)
        return


def _insert_runtime_error(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with a statement that panics at the start of a test."""
    at = _get_body(test).start_byte + 1
    yield source[:at] + _PANICS + source[at:]


def _duplicate_test(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file with a test declared twice."""
    yield replace_span(source, test.end_byte, test.end_byte, b'\n\n' + (test.text or b''))


def _insert_syntax_error(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """Yield the file without the last token of the last statement of a test."""
    last = next(
        (node for node in reversed([*_list_statements(test)]) if node.type != 'comment'), None
    )
    while last is not None and last.child_count:
        last = last.children[-1]
    if last is not None:
        text = source[: last.start_byte] + source[last.end_byte :]
        if Parser(GO).parse(text).root_node.has_error:
            yield text


_INSERTIONS: Mapping[Defect, Insert] = {
    Defect.MISSED_ASSERTS: _remove_assertions,
    Defect.NO_NEW_COVERED_LOGIC: _copy_other_body,
    Defect.UNDEFINED_ENTITY: _insert_undefined_name,
    Defect.INVALID_CALL: _insert_invalid_call,
    Defect.INVALID_CONSTRUCTOR: _insert_invalid_constructor_call,
    Defect.RUNTIME_ERRORS: _insert_runtime_error,
    Defect.DUPLICATE_ENTITY: _duplicate_test,
    Defect.SYNTAX_ERROR: _insert_syntax_error,
}


def _find_function(root: Node, test: Member) -> Node | None:
    """Return the declaration of a test; None for one without a body."""
    node = root.descendant_for_byte_range(test.start_byte, test.end_byte)
    while node is not None and node.type not in ('function_declaration', 'method_declaration'):
        node = node.parent
    return node if node is not None and node.child_by_field_name('body') is not None else None


def _get_body(test: Node) -> Node:
    body = test.child_by_field_name('body')
    assert body is not None, '_find_function has checked it'
    return body


def _list_statements(test: Node) -> list[Node]:
    """Return the statements of a test; the grammar may wrap them in a list of their own."""
    children = _get_body(test).named_children
    wrapped = [node for node in children if node.type == 'statement_list']
    return wrapped[0].named_children if wrapped else children


def _get_parameter_list_text(test: Node) -> bytes | None:
    listed = test.child_by_field_name('parameters')
    return listed.text if listed is not None else None


def _get_parameter_names(test: Node) -> frozenset[bytes]:
    listed = test.child_by_field_name('parameters')
    declared = [] if listed is None else listed.named_children
    names = (name for parameter in declared for name in parameter.children_by_field_name('name'))
    return frozenset(name.text or b'' for name in names)


def _walk_nodes(root: Node, kind: str) -> Iterator[Node]:
    """Yield the nodes of a kind, outer ones first, without those inside of function literals."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            yield node
        waiting += [child for child in reversed(node.named_children) if child.type not in _NESTED]
