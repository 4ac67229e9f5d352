"""Defects in tests of Python. Fulfils `coevo.languages.defects.DefectInsertion`.

A test that is declared twice is none: the second takes the place of the first, without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages.declarations import Member
from coevo.languages.python.assertions import asserting
from coevo.languages.python.assertions import called
from coevo.languages.python.reading.statements import definition
from coevo.languages.python.reading.statements import is_text
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.text_edits import TextEdits
from coevo.languages.text_edits import indentation
from coevo.languages.text_edits import replaced
from coevo.languages.text_edits import without
from coevo.model.families import Defect
from coevo.model.words import Outcome

UNRESOLVED = frozenset({Outcome.COMPILE_ERROR, Outcome.ERROR})

_IMPORTS = frozenset({'import_statement', 'import_from_statement'})
_NESTED = frozenset({'class_definition', 'function_definition', 'lambda'})
_BY_NAME = frozenset({'keyword_argument', 'dictionary_splat'})
_OWN = (b'self', b'cls')
_RAISES = b'None.strip()'

Insert = Callable[[bytes, Node, Sequence[Node]], Iterator[bytes]]
"""From a file, a test of it and all its tests to texts with a defect; tests are their definitions."""


def defective(kind: Defect, source: bytes, tests: Sequence[Member]) -> Iterator[bytes]:
    root = Parser(PYTHON).parse(source).root_node
    if kind is Defect.MISSED_DEPENDENCIES:
        yield from _without_import(source, root)
        return
    insert = _INSERTIONS.get(kind)
    if insert is None:
        return
    found = [one for one in (_function(root, test) for test in tests) if one is not None]
    for test in found:
        yield from insert(source, test, found)


def _without_import(source: bytes, root: Node) -> Iterator[bytes]:
    for statement in root.named_children:
        if statement.type in _IMPORTS:
            yield without(source, statement.start_byte, statement.end_byte)


def _missed_asserts(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """All assertions that are statements of their own."""
    edits, found = TextEdits(source), _asserting_statements(test)
    ids = {one.id for one in found}
    for one in found:
        block = one.parent
        if block is not None and all(c.id in ids for c in block.named_children):
            edits.replace(one.start_byte, one.end_byte, b'pass')
        else:
            edits.cut(one.start_byte, one.end_byte)
    if found:
        yield edits.result()


def _asserting_statements(test: Node) -> list[Node]:
    nodes = (_statement(one) for one in asserting(_body(test)))
    return list({one.id: one for one in nodes if one is not None}.values())


def _statement(oracle: Node) -> Node | None:
    """None of one that others stand in, such as `with raises(…)`, or that is part of another."""
    if oracle.type == 'assert_statement':
        return oracle
    parent = oracle.parent
    return parent if parent is not None and parent.type == 'expression_statement' else None


def _no_new_logic(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """The body of another test in place of its own, where both are given the same."""
    given, margin = _parameters(test), indentation(source, test.start_byte)
    for other in tests:
        alike = _parameters(other) == given and indentation(source, other.start_byte) == margin
        if other.id != test.id and alike:
            body = _body(test)
            yield replaced(source, body.start_byte, body.end_byte, _body(other).text or b'')
            return


def _undefined_entity(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """A name that nothing has, where something is called or handed over."""
    for call in _calls(test):
        for one in (_receiver(call), *_arguments(call)):
            if one is not None and one.type == 'identifier' and one.text not in _OWN:
                yield replaced(source, one.end_byte, one.end_byte, b'_undefined')
                return


def _invalid_call(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """One argument more than a function takes."""
    yield from _with_argument(source, test, constructor=False)


def _invalid_constructor(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    yield from _with_argument(source, test, constructor=True)


def _with_argument(source: bytes, test: Node, *, constructor: bool) -> Iterator[bytes]:
    """Of the first such call; classes are told by how they are written (PEP 8)."""
    asserted = {one.id for one in asserting(_body(test))}
    for call in _calls(test):
        listed = call.child_by_field_name('arguments')
        if call.id in asserted or listed is None or listed.type != 'argument_list':
            continue
        _, name = called(call)
        if name[:1].isupper() is constructor:
            yield _with_more(source, listed)
            return


def _with_more(source: bytes, listed: Node) -> bytes:
    """Behind what is handed over by place."""
    arguments = [one for one in listed.named_children if one.type != 'comment']
    placed = [one for one in arguments if one.type not in _BY_NAME]
    if placed:
        at, more = placed[-1].end_byte, b', None'
    else:
        at, more = listed.start_byte + 1, b'None, ' if arguments else b'None'
    return replaced(source, at, at, more)


def _runtime_error(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    first, *others = (one for one in _body(test).named_children if one.type != 'comment')
    if is_text(first) and others:
        first = others[0]
    margin = indentation(source, first.start_byte)
    after = b'\n' + margin if margin else b'; '
    edits = TextEdits(source)
    edits.insert(first.start_byte, _RAISES + after)
    yield edits.result()


def _syntax_error(source: bytes, test: Node, tests: Sequence[Node]) -> Iterator[bytes]:
    """The last statement of a test without its last word."""
    last = _body(test)
    while last.named_children and last.named_children[-1].type != 'comment' and last.child_count:
        last = last.children[-1]
    text = source[: last.start_byte].rstrip(b' ') + source[last.end_byte :]
    if Parser(PYTHON).parse(text).root_node.has_error:
        yield text


_INSERTIONS: Mapping[Defect, Insert] = {
    Defect.MISSED_ASSERTS: _missed_asserts,
    Defect.NO_NEW_COVERED_LOGIC: _no_new_logic,
    Defect.UNDEFINED_ENTITY: _undefined_entity,
    Defect.INVALID_CALL: _invalid_call,
    Defect.INVALID_CONSTRUCTOR: _invalid_constructor,
    Defect.RUNTIME_ERRORS: _runtime_error,
    Defect.SYNTAX_ERROR: _syntax_error,
}


def _function(root: Node, test: Member) -> Node | None:
    node = root.descendant_for_byte_range(test.start_byte, test.end_byte)
    while node is not None and not node.type.endswith('_definition'):
        node = node.parent
    own = definition(node) if node is not None else None
    return own if own is not None and own.type == 'function_definition' else None


def _body(test: Node) -> Node:
    body = test.child_by_field_name('body')
    assert body is not None, 'the grammar gives each function one'
    return body


def _parameters(test: Node) -> bytes | None:
    listed = test.child_by_field_name('parameters')
    return listed.text if listed is not None else None


def _calls(test: Node) -> Iterator[Node]:
    """Those that the test itself makes, outer ones first."""
    waiting = [_body(test)]
    while waiting:
        node = waiting.pop()
        if node.type == 'call':
            yield node
        waiting += [one for one in reversed(node.named_children) if one.type not in _NESTED]


def _receiver(call: Node) -> Node | None:
    function = call.child_by_field_name('function')
    if function is None or function.type != 'attribute':
        return None
    return function.child_by_field_name('object')


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name('arguments')
    return listed.named_children if listed is not None else []
