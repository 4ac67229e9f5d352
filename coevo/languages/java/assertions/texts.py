"""The assertions in a method's syntax tree as texts that formatting and messages do not touch."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping

from tree_sitter import Node
from tree_sitter import Parser

from coevo.languages.java.assertions.found import DESCRIBING
from coevo.languages.java.assertions.found import GROUP
from coevo.languages.java.assertions.found import Assertion
from coevo.languages.java.assertions.found import assertions_in
from coevo.languages.java.assertions.found import is_oracle
from coevo.languages.java.assertions.found import is_oracle_reference
from coevo.languages.java.assertions.style import is_text
from coevo.languages.java.assertions.style import message_of
from coevo.languages.java.reading.calls import Call
from coevo.languages.java.reading.calls import Variable
from coevo.languages.java.reading.calls import call_of
from coevo.languages.java.reading.calls import chained
from coevo.languages.java.reading.calls import inside
from coevo.languages.java.reading.calls import normalised
from coevo.languages.java.reading.calls import variables_in
from coevo.languages.java.reading.tokens import JAVA

_EXPECTED = ('expected', 'expectedExceptions')
# Links that lead to another part of what is asserted, or say how to compare; not checks themselves.
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


def assertions_of(source: str) -> tuple[str, ...]:
    """The assertions of a test method in order, as texts; source is the method alone.

    Comments, white space, messages and the class that an assertion is taken from are left out. A chain
    is one text for each check, `assertThat(x).isNotNull()` and `assertThat(x).hasSize(2)`. Verified
    mocks, expectations and helpers that are named as such count; so does `@Test(expected = …)`.
    """
    root = Parser(JAVA).parse(f'class _ {{ {source}\n}}'.encode()).root_node
    bodies = (child.child_by_field_name('body') for child in root.children)
    return tuple(text_ for body in bodies if body is not None for text_ in texts_in(body))


def kind_of(text: str) -> str:
    return text.partition('(')[0]


def texts_in(root: Node) -> Iterator[str]:
    """One text for each assertion and each check of a chain, in the order of the source."""
    variables = {variable.name: variable for variable in variables_in(root)}
    known = {found.call.node.id: found for found in assertions_in(root, classes=True)}
    for node in inside(root, classes=True):
        if node.type == 'element_value_pair' and normalised(node).startswith(_EXPECTED):
            yield f'@Test({normalised(node)})'
        elif node.type == 'assert_statement':
            yield f'assert {"".join(map(normalised, node.named_children[:1]))}'
        elif is_oracle_reference(node):
            yield normalised(node)
        elif node.id in known:
            yield from _library_texts(known[node.id], variables)
        elif node.type == 'method_invocation':
            yield from _other_text(call_of(node))


def _other_text(call: Call) -> Iterator[str]:
    """Verified mocks with what is verified, and helpers that assert."""
    if is_oracle(call) and call.name != GROUP:
        whole = chained(call)[-1:] if call.name == 'verify' else ()
        yield normalised(whole[0].node if whole else call.node)


def _library_texts(assertion: Assertion, variables: Mapping[str, Variable]) -> Iterator[str]:
    prefix, links = _start(assertion, variables), list(assertion.links)
    if prefix is None:
        prefix, links = f'assertThat({_joined(links[0].arguments)})', links[1:]
    checked = False
    for link in links:
        step = f'{prefix}.{link.name}({_joined(link.arguments)})'
        if link.name in _NAVIGATING:
            prefix = step
        elif link.name not in DESCRIBING:
            checked = True
            yield step
    if not checked:
        yield prefix


def _start(assertion: Assertion, variables: Mapping[str, Variable]) -> str | None:
    """An assertion without its chain and its message; None for Truth's, whose chain has the subject."""
    call = assertion.call
    if assertion.is_truth and assertion.links:
        return None
    message = _message(call, variables)
    arguments = [node for node in call.arguments if node != message]
    receiver = normalised(call.receiver) + '.' if call.receiver is not None else ''
    if receiver.rpartition('.')[0].rpartition('.')[2][:1].isupper():
        receiver = ''  # the class that declares it
    return f'{receiver}{call.name}({_joined(arguments)})'


def _message(call: Call, variables: Mapping[str, Variable]) -> Node | None:
    """The message where its place can be told without imports: one end alone is a text."""
    if not call.arguments:
        return None
    first, last = call.arguments[0], call.arguments[-1]
    ends = [node for node in (first, last) if is_text(node, variables)]
    if len(ends) == 2 and first != last:
        ends = [node for node in ends if node.type != 'lambda_expression']
    if len(ends) != 1 and first != last:
        return None
    return message_of(call, last=last in ends, variables=variables)


def _joined(arguments: Iterable[Node]) -> str:
    return ','.join(map(normalised, arguments))
