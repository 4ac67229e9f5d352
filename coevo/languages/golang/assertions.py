"""The assertions of Go tests: where they stand, and what they say.

Fulfils `coevo.languages.assertions.Assertions`. What fails a test of the package testing is a call such as
`t.Errorf`; what it asserts is the condition around it. Testify's and gotest.tools' are known by the names of
their packages, and helpers by theirs if they are handed a `t`. An example asserts its output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node, Parser

from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.token_walk import GO, OUTPUT, GoTokenIndex
from coevo.languages.golang.reading.tokens import END
from coevo.model.records import TestMethod

# https://pkg.go.dev/testing#TB
_FAILING = {
    **{name: name.removesuffix('f') for name in ('Error', 'Errorf', 'Fatal', 'Fatalf')},
    **{name: name for name in ('Fail', 'FailNow')},
}
_TESTING = re.compile(r'\*?\s*(?:testing\.)?(?:T|F|TB)')
_USUAL = frozenset({'t', 'tb'})
# https://pkg.go.dev/github.com/stretchr/testify/assert, https://pkg.go.dev/gotest.tools/v3/assert,
# https://pkg.go.dev/gopkg.in/check.v1: what is asserted by functions, and by methods of what they make.
_PACKAGES = frozenset({'assert', 'require', 'is', 'check'})
_MADE = ('Require()', 'Assert()')
# How many arguments say what is asserted; all that follow are a message. Of others all do.
_ONE = """
True False Nil NotNil NoError Error Empty NotEmpty Zero NotZero Panics NotPanics FileExists DirExists
NilError Assert Check
"""
_TWO = """
Equal NotEqual EqualValues Exactly Same NotSame Len Contains NotContains ElementsMatch Subset NotSubset
Greater GreaterOrEqual Less LessOrEqual ErrorIs NotErrorIs ErrorAs EqualError ErrorContains Regexp NotRegexp
JSONEq YAMLEq IsType Implements PanicsWithValue ErrorType
"""
_THREE = 'InDelta InEpsilon WithinDuration Eventually Never'
_ARITY = {
    **dict.fromkeys(_ONE.split(), 1),
    **dict.fromkeys(_TWO.split(), 2),
    **dict.fromkeys(_THREE.split(), 3),
    'Fail': 0,
    'FailNow': 0,
}
_HELPER = re.compile(r'(?i:assert|verify|require|expect|check|must|ensure)')
_KIND = re.compile(r'[\w.]+')
_FUNCTIONS = frozenset({'func_literal', 'function_declaration', 'method_declaration'})


def list_assertions(source: str) -> tuple[str, ...]:
    """The assertions of a test function in order, as texts; source is the function alone.

    Comments, layout, messages and `t` are left out; what `t.Error` asserts is the condition around it.
    """
    text = source.encode()
    root = Parser(GO).parse(text).root_node
    read = _OracleFinder(root, text)
    assertions = [read.describe_call(call) for call in read.find_calls()]
    return (*assertions, *(f'Output({output})' for output in read.list_expected_outputs()))


def classify_assertion(text: str) -> str:
    """`Error`, `assert.Equal`, `Output`."""
    match = _KIND.match(text)
    return match[0] if match is not None else text


def find_oracle_lines(source: bytes) -> frozenset[int]:
    """With the lines of a condition go those between it and the call."""
    read = _OracleFinder(Parser(GO).parse(source).root_node, source)
    lines: set[int] = set()
    for call in read.find_calls():
        lines |= set(range(call.start_point.row + 1, call.end_point.row + 2))
        condition = read.find_condition(call)
        if condition is not None:
            body = condition.child_by_field_name('consequence')
            last = (body or condition).start_point.row + 1
            lines |= set(range(condition.start_point.row + 1, last + 1))
    return frozenset(lines | read.find_output_lines())


def expects_exception(source: bytes, method: TestMethod) -> bool:
    """Never: a test of Go cannot say that it has to panic."""
    members = (member for type_ in parse(source).types for member in type_.members)
    if any(member.name == method.test_method for member in members):
        return False
    raise LookupError(f'no {method.test_method} in {method.test_file}')


class _OracleFinder:
    """What may fail a test in a text."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._root = root
        self._source = source
        self._tokens = GoTokenIndex(root, source)
        self._handed = _USUAL | frozenset(self._list_test_parameters())

    def find_calls(self) -> Iterator[Node]:
        """Outer ones before those in their arguments."""
        return (node for node in _walk_nodes(self._root) if self._is_oracle(node))

    def list_expected_outputs(self) -> Iterator[str]:
        """What examples have to print."""
        for node in self._root.children:
            if node.type == 'function_declaration':
                tokens = self._tokens.slice_spans([(node.start_byte, node.end_byte)])
                comments = [text[3:] for text in tokens.texts if text.startswith('// ')]
                if comments and OUTPUT.match(comments[0]):
                    yield ' '.join(' '.join(comments).split())

    def find_output_lines(self) -> frozenset[int]:
        return frozenset(
            self._source.count(b'\n', 0, at) + 1 + line
            for at, token in self._tokens
            if token.text.startswith('// ')
            for line in range(token.text.count('\n') + 1)
        )

    def describe_call(self, call: Node) -> str:
        receiver, name = self._split_callee(call)
        if receiver in self._handed and name in _FAILING:
            return f'{_FAILING[name]}({self._describe_condition(call)})'
        start = name if receiver.partition('.')[0] in self._handed else f'{receiver}.{name}'
        return f'{start.lstrip(".")}({", ".join(self._list_asserted_arguments(call, name))})'

    def find_condition(self, call: Node) -> Node | None:
        """The nearest `if` of the same function, of which the call is a direct consequence."""
        node = call.parent
        while node is not None and node.type not in _FUNCTIONS:
            if node.type == 'if_statement':
                return node
            node = node.parent
        return None

    def _describe_condition(self, call: Node) -> str:
        condition = self.find_condition(call)
        if condition is None:
            return ''
        parts = [condition.child_by_field_name(name) for name in ('initializer', 'condition')]
        text = '; '.join(self._join_tokens(part) for part in parts if part is not None)
        other = condition.child_by_field_name('alternative')
        within = other is not None and other.start_byte <= call.start_byte
        return f'else {text}' if within else text

    def _is_oracle(self, node: Node) -> bool:
        if node.type != 'call_expression':
            return False
        receiver, name = self._split_callee(node)
        if receiver in self._handed:
            return name in _FAILING
        if receiver in _PACKAGES or receiver.endswith(_MADE):
            return name[:1].isupper() and name != 'New'
        handed = [self._read_text(argument) for argument in _list_arguments(node)[:1]]
        return bool(handed) and handed[0] in self._handed and _HELPER.match(name) is not None

    def _split_callee(self, call: Node) -> tuple[str, str]:
        """What stands before the last dot of what is called, and what behind it."""
        text = self._read_text(call.child_by_field_name('function'))
        receiver, _, name = text.rpartition('.')
        return receiver, name if name.isidentifier() else ''

    def _list_asserted_arguments(self, call: Node, name: str) -> Iterator[str]:
        """Those that are no message, and not the `t`."""
        listed = _list_arguments(call)
        if listed and self._read_text(listed[0]) in self._handed:
            listed = listed[1:]
        most = _ARITY.get(name, _ARITY.get(name.removesuffix('f'), len(listed)))
        yield from map(self._join_tokens, listed[:most])

    def _list_test_parameters(self) -> Iterator[str]:
        """The names of parameters whose type is one of testing's."""
        for node in _walk_nodes(self._root):
            type_ = node.child_by_field_name('type')
            if node.type == 'parameter_declaration' and _TESTING.fullmatch(self._read_text(type_)):
                yield from map(self._read_text, node.children_by_field_name('name'))

    def _join_tokens(self, node: Node) -> str:
        texts = self._tokens.slice_spans([(node.start_byte, node.end_byte)]).texts
        return ' '.join(text for text in texts if text != END)

    def _read_text(self, node: Node | None) -> str:
        if node is None:
            return ''
        return self._source[node.start_byte : node.end_byte].decode(errors='replace')


def _list_arguments(call: Node) -> list[Node]:
    arguments = call.child_by_field_name('arguments')
    return (
        [c for c in arguments.named_children if c.type != 'comment']
        if arguments is not None
        else []
    )


def _walk_nodes(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)
