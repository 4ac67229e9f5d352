"""The measures of Python tests from their text: assertions with normalised texts, errors of
loading, and lines to mutate.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping

from tree_sitter import Node, Parser

from coevo.languages.measures import ErrorClass
from coevo.languages.mutation import is_comment
from coevo.languages.python.commands import get_class_name
from coevo.languages.python.reading.statements import is_text_statement
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.tokens import DEDENT, INDENT, NEWLINE, PYTHON, PythonTokens
from coevo.languages.universal_mutator import UniversalMutator
from coevo.model.records import TestMethod

# The number of arguments, without a message, of unittest's assertions (unittest.TestCase).
_ONE = [
    'assertTrue',
    'assertFalse',
    'assertIsNone',
    'assertIsNotNone',
    'assert_',
    'failIf',
    'failUnless',
]
_TWO = [
    'assertEqual',
    'assertNotEqual',
    'assertEquals',
    'assertNotEquals',
    'assertIs',
    'assertIsNot',
    'assertIn',
    'assertNotIn',
    'assertIsInstance',
    'assertNotIsInstance',
    'assertGreater',
    'assertGreaterEqual',
    'assertLess',
    'assertLessEqual',
    'assertRegex',
    'assertNotRegex',
    'assertCountEqual',
    'assertMultiLineEqual',
    'assertSequenceEqual',
    'assertListEqual',
    'assertTupleEqual',
    'assertSetEqual',
    'assertDictEqual',
]
_ARITY = {
    **dict.fromkeys(_ONE, 1),
    **dict.fromkeys(_TWO, 2),
    **dict.fromkeys(('assertAlmostEqual', 'assertNotAlmostEqual'), 3),  # the third is `places`
    'fail': 0,
}
_PYTEST = frozenset({'raises', 'warns', 'deprecated_call', 'fail'})
_BY_NAME = ('assert', 'verify', 'failIf', 'failUnless')
_OWN = frozenset({'self', 'cls'})
_WORD = re.compile(r'[\w.]+')
_LAYOUT = (INDENT, DEDENT, NEWLINE)
_ENDS = frozenset({'raises', 'expectedFailure'})


def list_assertions(source: str) -> tuple[str, ...]:
    """Return the assertions in the source of one test method, in order, each as a text.

    Comments, layout, failure messages and the receivers `self` and `cls` are left out. An assertion
    within the arguments of another one follows it. Example: `self.assertEqual(a, 1, 'why')` becomes
    `assertEqual(a, 1)`.
    """
    text = textwrap.dedent(source).encode()
    root = Parser(PYTHON).parse(text).root_node
    tokens = PythonTokens(root, text)
    return tuple(_format_assertion(node, tokens) for node in find_assertion_nodes(root))


def extract_assertion_name(text: str) -> str:
    """Return the simple name of an assertion, given its text: `assert`, `assertEqual`, `raises`."""
    match = _WORD.match(text)
    return match[0].rpartition('.')[2] if match is not None else text


def find_oracle_lines(source: bytes) -> frozenset[int]:
    """Return the numbers, from 1, of all lines of a file that an assertion covers."""
    nodes = find_assertion_nodes(Parser(PYTHON).parse(source).root_node)
    return frozenset(
        line for node in nodes for line in range(node.start_point.row + 1, node.end_point.row + 2)
    )


def declares_expected_exception(source: bytes, method: TestMethod) -> bool:
    """Return whether a decorator says that a test raises or fails.

    Its simple name is `raises` or `expectedFailure`.

    Raises:
        LookupError: the file declares no such test method
    """
    around = [part for part in get_class_name(method).split('.') if part]
    for type_ in parse(source).types:
        for member in type_.members:
            if (
                member.name == method.test_method
                and list(type_.around[1:]) + ([type_.simple] if type_.around else []) == around
            ):
                return not _ENDS.isdisjoint(member.annotations)
    raise LookupError(f'no {method.test_method} in {method.test_file}')


def find_assertion_nodes(root: Node) -> Iterator[Node]:
    """Yield assert statements and asserting calls, outer ones before those in their arguments."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == 'assert_statement' or (node.type == 'call' and _is_assertion_call(node)):
            yield node
        stack += reversed(node.children)


def _is_assertion_call(call: Node) -> bool:
    receiver, name = split_callee(call)
    if name in _PYTEST:
        return receiver in ('pytest', '') if name != 'fail' else receiver in ('pytest', *_OWN)
    return name.startswith(_BY_NAME)


def split_callee(call: Node) -> tuple[str, str]:
    """Return the parts of a called expression before and after its last dot.

    The first is '' if there is no dot, the second if it is no identifier, as in `f()()`.
    """
    function = call.child_by_field_name('function')
    text = function.text.decode(errors='replace') if function and function.text else ''
    receiver, _, name = text.rpartition('.')
    return receiver, name if name.isidentifier() else ''


def _format_assertion(node: Node, tokens: PythonTokens) -> str:
    if node.type == 'assert_statement':
        return f'assert {_join_tokens(tokens, node.named_children[0])}'
    receiver, name = split_callee(node)
    start = name if receiver in _OWN else f'{receiver}.{name}'.lstrip('.')
    return f'{start}({", ".join(_format_arguments(node, name, tokens))})'


def _format_arguments(call: Node, name: str, tokens: PythonTokens) -> Iterator[str]:
    """Yield the arguments of an assertion as texts, without its failure message.

    The message is a keyword such as `msg`, or what follows the usual number of arguments.
    """
    listed = call.child_by_field_name('arguments')
    children = listed.named_children if listed is not None else []
    count = 0
    for child in children:
        if child.type == 'keyword_argument':
            key = child.child_by_field_name('name')
            if key is None or key.text not in (b'msg', b'message', b'err_msg', b'reason'):
                yield _join_tokens(tokens, child)
        elif child.type != 'comment':
            if count < _ARITY.get(name, count + 1):
                yield _join_tokens(tokens, child)
            count += 1


def _join_tokens(tokens: PythonTokens, node: Node) -> str:
    texts = tokens.slice_bytes([(node.start_byte, node.end_byte)]).texts
    return ' '.join(text for text in texts if text not in _LAYOUT)


# Classify what keeps a Python test from loading, by the type of the exception.
#
# A signature is `TYPE@PLACE`, or `missing:NAME` if a test uses a name that the code lacks.
# Implements `coevo.languages.measures.ErrorClassifier`.

_CLASSES: Mapping[str, ErrorClass] = {
    'AttributeError': ErrorClass.CANNOT_FIND_SYMBOL,
    'ImportError': ErrorClass.IMPORTS,
    'IndentationError': ErrorClass.SYNTAX,
    'ModuleNotFoundError': ErrorClass.IMPORTS,
    'NameError': ErrorClass.CANNOT_FIND_SYMBOL,
    'SyntaxError': ErrorClass.SYNTAX,
    'TabError': ErrorClass.SYNTAX,
    'TypeError': ErrorClass.TYPES,
    'UnboundLocalError': ErrorClass.CANNOT_FIND_SYMBOL,
}


def classify_error(signature: str) -> ErrorClass:
    """Return the class of an error from its signature; `OTHER` for an unknown type of exception."""
    if signature.startswith('missing:'):
        return ErrorClass.CANNOT_FIND_SYMBOL
    name = signature.partition('@')[0].removeprefix('builtins.')
    return _CLASSES.get(name, ErrorClass.OTHER)


def _is_documentation(node: Node) -> bool:
    return is_comment(node) or is_text_statement(node)


MUTATION = UniversalMutator(suffix='.py', grammar=PYTHON, documents=_is_documentation)
