"""Finds the assertions of Go tests and describes them.

Fulfils `coevo.languages.measures.Assertions`. With the package testing, a test fails by a call
such as `t.Errorf`, and its assertion is the condition around the call. Assertions of Testify and
gotest.tools are recognized by the names of their packages. Helpers are recognized by their own
names if they are passed a `t`. An example asserts its output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
# https://pkg.go.dev/gopkg.in/check.v1: assertions are functions, or methods of objects that these
# make.
_PACKAGES = frozenset({'assert', 'require', 'is', 'check'})
_MADE = ('Require()', 'Assert()')
# The number of arguments that make up the assertion; all further ones are a message. For names not
# listed, all arguments count.
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
    """Return the assertions of a test function in order, as texts: `assert.Equal(got, want)`.

    Comments, layout, messages and `t` are left out. The assertion of `t.Error` is the condition
    around it. The expected output of an example comes last.

    source  the text of the function alone
    """
    text = source.encode()
    root = Parser(GO).parse(text).root_node
    read = _OracleFinder(root, text)
    assertions = [read.format_assertion(call) for call in read.iterate_assertion_calls()]
    return (*assertions, *(f'Output({output})' for output in read.list_expected_outputs()))


def extract_assertion_name(text: str) -> str:
    """Return the name at the start of an assertion: `Error`, `assert.Equal`, `Output`.

    The text itself is returned if it begins with no name.
    """
    match = _KIND.match(text)
    return match[0] if match is not None else text


def find_oracle_lines(source: bytes) -> frozenset[int]:
    """Return the 1-based lines of all assertions of a file.

    They include the head of the `if` around an assertion and the expected outputs of examples.
    """
    read = _OracleFinder(Parser(GO).parse(source).root_node, source)
    lines: set[int] = set()
    for call in read.iterate_assertion_calls():
        lines |= set(range(call.start_point.row + 1, call.end_point.row + 2))
        condition = read.find_enclosing_if(call)
        if condition is not None:
            body = condition.child_by_field_name('consequence')
            last = (body or condition).start_point.row + 1
            lines |= set(range(condition.start_point.row + 1, last + 1))
    return frozenset(lines | read.find_expected_output_lines())


def find_assertion_calls(function: Node, source: bytes) -> Sequence[tuple[Node, Sequence[Node]]]:
    """Return the calls in a function that are assertions, each with the arguments it compares.

    Outer calls come before inner ones. The `t` and the message are not compared, and a failing call
    such as `t.Error` compares nothing itself.

    source  the file of the function
    """
    finder = _OracleFinder(function, source)
    return [(call, finder.list_asserted_nodes(call)) for call in finder.iterate_assertion_calls()]


def declares_expected_exception(source: bytes, method: TestMethod) -> bool:
    """Return False: a test in Go cannot declare that it must panic.

    Raises:
        LookupError: the file does not declare the method.
    """
    members = (member for type_ in parse(source).types for member in type_.members)
    if any(member.name == method.test_method for member in members):
        return False
    raise LookupError(f'no {method.test_method} in {method.test_file}')


class _OracleFinder:
    """Finds the calls and expected outputs by which a test can fail, in one syntax tree."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._root = root
        self._source = source
        self._tokens = GoTokenIndex(root, source)
        self._handed = _USUAL | frozenset(self._list_test_parameters())

    def iterate_assertion_calls(self) -> Iterator[Node]:
        """Yield the calls that are assertions; outer calls come before calls in their arguments."""
        return (node for node in _walk_nodes(self._root) if self._is_assertion_call(node))

    def list_expected_outputs(self) -> Iterator[str]:
        """Yield the outputs that examples in the text must print, with blanks for white space."""
        for node in self._root.children:
            if node.type == 'function_declaration':
                tokens = self._tokens.slice_spans([(node.start_byte, node.end_byte)])
                comments = [text[3:] for text in tokens.texts if text.startswith('// ')]
                if comments and OUTPUT.match(comments[0]):
                    yield ' '.join(' '.join(comments).split())

    def find_expected_output_lines(self) -> frozenset[int]:
        """Return the 1-based lines of the comments that state expected outputs of examples."""
        return frozenset(
            self._source.count(b'\n', 0, at) + 1 + line
            for at, token in self._tokens
            if token.text.startswith('// ')
            for line in range(token.text.count('\n') + 1)
        )

    def format_assertion(self, call: Node) -> str:
        """Return an assertion as a text without layout, message and `t`.

        For a failing call such as `t.Error`, the text in brackets is the condition around it.
        """
        receiver, name = self._split_callee(call)
        if receiver in self._handed and name in _FAILING:
            return f'{_FAILING[name]}({self._describe_enclosing_condition(call)})'
        start = name if receiver.partition('.')[0] in self._handed else f'{receiver}.{name}'
        asserted = map(self._join_tokens, self._list_asserted_arguments(call, name))
        return f'{start.lstrip(".")}({", ".join(asserted)})'

    def find_enclosing_if(self, call: Node) -> Node | None:
        """Return the nearest `if` around a call within the same function; None if there is none."""
        node = call.parent
        while node is not None and node.type not in _FUNCTIONS:
            if node.type == 'if_statement':
                return node
            node = node.parent
        return None

    def _describe_enclosing_condition(self, call: Node) -> str:
        condition = self.find_enclosing_if(call)
        if condition is None:
            return ''
        parts = [condition.child_by_field_name(name) for name in ('initializer', 'condition')]
        text = '; '.join(self._join_tokens(part) for part in parts if part is not None)
        other = condition.child_by_field_name('alternative')
        within = other is not None and other.start_byte <= call.start_byte
        return f'else {text}' if within else text

    def _is_assertion_call(self, node: Node) -> bool:
        if node.type != 'call_expression':
            return False
        receiver, name = self._split_callee(node)
        if receiver in self._handed:
            return name in _FAILING
        if receiver in _PACKAGES or receiver.endswith(_MADE):
            return name[:1].isupper() and name != 'New'
        handed = [self._read_text(argument) for argument in list_arguments(node)[:1]]
        return bool(handed) and handed[0] in self._handed and _HELPER.match(name) is not None

    def _split_callee(self, call: Node) -> tuple[str, str]:
        """Return the parts before and behind the last dot of a called function: receiver and name.

        The receiver is '' without a dot. The name is '' if it is no identifier.
        """
        text = self._read_text(call.child_by_field_name('function'))
        receiver, _, name = text.rpartition('.')
        return receiver, name if name.isidentifier() else ''

    def list_asserted_nodes(self, call: Node) -> list[Node]:
        """Return the arguments that an assertion compares; none for a failing call."""
        receiver, name = self._split_callee(call)
        if receiver in self._handed and name in _FAILING:
            return []
        return self._list_asserted_arguments(call, name)

    def _list_asserted_arguments(self, call: Node, name: str) -> list[Node]:
        """Return the arguments of a call without the message and the `t`."""
        listed = list_arguments(call)
        if listed and self._read_text(listed[0]) in self._handed:
            listed = listed[1:]
        most = _ARITY.get(name, _ARITY.get(name.removesuffix('f'), len(listed)))
        return listed[:most]

    def _list_test_parameters(self) -> Iterator[str]:
        """Yield the names of parameters of the types T, F and TB of the package testing."""
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


def list_arguments(call: Node) -> list[Node]:
    """Return the arguments of a call, without comments."""
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
