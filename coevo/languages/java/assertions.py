"""The assertions of Java tests: their positions and texts.

Implements `coevo.languages.measures.Assertions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node, Parser

from coevo.languages.java.assertion_calls import (
    DESCRIBING,
    GROUP,
    Assertion,
    declares_expected_exception,
    find_assertions,
    find_message_argument,
    find_oracle_lines,
    is_oracle,
    is_oracle_reference,
    is_text,
)
from coevo.languages.java.reading.source import (
    JavaCall,
    JavaVariable,
    find_chained_calls,
    find_variables,
    iterate_nodes,
    normalise_node,
    parse_call,
)
from coevo.languages.java.reading.tokens import JAVA

# Render the assertions of a method as texts that do not depend on formatting and messages.

_EXPECTED = ('expected', 'expectedExceptions')
# Links that select another part of the subject or say how to compare; they are not checks.
_NAVIGATING = frozenset(
    {
        'asString',
        'asList',
        'asInstanceOf',
        'element',
        'extracting',
        'extractingResultOf',
        'filteredOn',
        'first',
        'flatExtracting',
        'last',
        'singleElement',
        'size',
        'that',
        'about',
        'usingRecursiveComparison',
        'usingElementComparator',
        'usingComparator',
        'ignoringFields',
        'and',
        'not',
        'should',
        'withMessage',
    }
)


def list_assertions(source: str) -> tuple[str, ...]:
    """Return the assertions of one test method in source order, as normalised texts.

    `source` is the text of the method alone. Comments, white space, messages and the class that
    declares the assertion are left out. `assertThat(x).isNotNull().hasSize(2)` gives one text for
    each check: `assertThat(x).isNotNull()` and `assertThat(x).hasSize(2)`. Checks of mocks,
    expectations, helpers named `assert…` or `verify…`, and `@Test(expected = …)` are included.
    """
    root = Parser(JAVA).parse(f'class _ {{ {source}\n}}'.encode()).root_node
    bodies = (child.child_by_field_name('body') for child in root.children)
    return tuple(
        text_ for body in bodies if body is not None for text_ in find_assertion_texts(body)
    )


def extract_assertion_name(text: str) -> str:
    """Return the kind of an assertion text: everything before its first parenthesis."""
    return text.partition('(')[0]


def find_assertion_texts(root: Node) -> Iterator[str]:
    """Yield the normalised text of each assertion below a node, in source order.

    A chain gives one text for each of its checks; see `list_assertions`.
    """
    variables = {variable.name: variable for variable in find_variables(root)}
    known = {
        assertion.call.node.id: assertion
        for assertion in find_assertions(root, into_local_classes=True)
    }
    for node in iterate_nodes(root, into_local_classes=True):
        if node.type == 'element_value_pair' and normalise_node(node).startswith(_EXPECTED):
            yield f'@Test({normalise_node(node)})'
        elif node.type == 'assert_statement':
            yield f'assert {"".join(map(normalise_node, node.named_children[:1]))}'
        elif is_oracle_reference(node):
            yield normalise_node(node)
        elif node.id in known:
            yield from _render_checks(known[node.id], variables)
        elif node.type == 'method_invocation':
            yield from _render_oracle_call(parse_call(node))


def _render_oracle_call(call: JavaCall) -> Iterator[str]:
    """Yield the text of a call if it is an oracle but no group; else nothing.

    For `verify(mock)`, the text includes the chained call that is verified.
    """
    if is_oracle(call) and call.name != GROUP:
        whole = find_chained_calls(call)[-1:] if call.name == 'verify' else ()
        yield normalise_node(whole[0].node if whole else call.node)


def _render_checks(assertion: Assertion, variables: Mapping[str, JavaVariable]) -> Iterator[str]:
    prefix, links = _render_first_call(assertion, variables), list(assertion.links)
    if prefix is None:
        prefix, links = f'assertThat({_render_arguments(links[0].arguments)})', links[1:]
    checked = False
    for link in links:
        step = f'{prefix}.{link.name}({_render_arguments(link.arguments)})'
        if link.name in _NAVIGATING:
            prefix = step
        elif link.name not in DESCRIBING:
            checked = True
            yield step
    if not checked:
        yield prefix


def _render_first_call(assertion: Assertion, variables: Mapping[str, JavaVariable]) -> str | None:
    """Return the text of an assertion's first call without its message.

    Returns None for Truth's `assert_` and `assertWithMessage`, whose tested value is in the chain.
    """
    call = assertion.call
    if assertion.is_in_truth_style and assertion.links:
        return None
    message = _guess_message(call, variables)
    arguments = [node for node in call.arguments if node != message]
    receiver = normalise_node(call.receiver) + '.' if call.receiver is not None else ''
    if receiver.rpartition('.')[0].rpartition('.')[2][:1].isupper():
        receiver = ''  # the class that declares the assertion
    return f'{receiver}{call.name}({_render_arguments(arguments)})'


def _guess_message(call: JavaCall, variables: Mapping[str, JavaVariable]) -> Node | None:
    """Return the argument that is the message, judged without the file's imports; else None.

    Its position is clear only if exactly one of the first and the last argument is a text.
    """
    if not call.arguments:
        return None
    first, last = call.arguments[0], call.arguments[-1]
    ends = [node for node in (first, last) if is_text(node, variables)]
    if len(ends) == 2 and first != last:
        ends = [node for node in ends if node.type != 'lambda_expression']
    if len(ends) != 1 and first != last:
        return None
    return find_message_argument(call, last=last in ends, variables=variables)


def _render_arguments(arguments: Iterable[Node]) -> str:
    return ','.join(map(normalise_node, arguments))


__all__ = [
    'list_assertions',
    'declares_expected_exception',
    'extract_assertion_name',
    'find_oracle_lines',
]
