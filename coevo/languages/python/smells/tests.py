"""Test smells in the statements of a test and of its class, as PyNose (ASE 2021) defines them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.python.reading.statements import get_definition
from coevo.languages.python.smells.source import (
    PythonTest,
    get_name,
    get_text,
    list_decorator_texts,
    list_functions,
    walk_descendants,
)

_CONTROL = frozenset(
    {
        *('if_statement', 'for_statement', 'while_statement', 'list_comprehension'),
        *('set_comprehension', 'dictionary_comprehension', 'generator_expression'),
    }
)
_HANDLING = frozenset({'except_clause', 'except_group_clause', 'raise_statement'})
_PATTERNS = frozenset({'pattern_list', 'tuple_pattern', 'list_pattern'})
_MOST_VARIABLES = 10
_SLEEP_IMPORTED = re.compile(rb'(?m)^\s*from\s+time\s+import\s[^#\n]*\bsleep\b(?!\s+as)')
_SKIPS = re.compile(r'(unittest\.|pytest\.mark\.)?skip(if|If|Unless)?\b')


def is_conditional_test_logic(test: PythonTest) -> bool:
    """Return whether the test has an `if`, a loop or a comprehension."""
    return any(node.type in _CONTROL for node in walk_descendants(test.body))


def is_empty_test(test: PythonTest) -> bool:
    """Return whether the body of the test has nothing but `pass`, `...` and strings.

    For PyNose it must have only `pass`.
    """
    statements = [node for node in test.body.named_children if node.type != 'comment']
    return all(node.type == 'pass_statement' or _is_string_or_ellipsis(node) for node in statements)


def is_exception_handling(test: PythonTest) -> bool:
    """Return whether the test has an `except` clause or a `raise`.

    A `try` with only a `finally` handles no exception.
    """
    return any(node.type in _HANDLING for node in walk_descendants(test.body))


def is_ignored_test(test: PythonTest) -> bool:
    """Return whether a decorator skips the test, conditionally or always.

    Here pytest's decorators and those of the class also count.
    """
    every = [*list_decorator_texts(test.function)]
    if test.owner is not None:
        every += list_decorator_texts(test.owner)
    return any(_SKIPS.match(decorator) for decorator in every)


def is_obscure_in_line_setup(test: PythonTest) -> bool:
    """Return whether the test assigns more than ten local variables."""
    return len({get_text(node) for node in _find_assigned_names(test.body)}) > _MOST_VARIABLES


def is_redundant_print(test: PythonTest) -> bool:
    """Return whether the test calls `print`."""
    return any(get_text(node) == 'print' for node in _find_callees(test))


def is_sleepy_test(test: PythonTest) -> bool:
    """Return whether the test calls `time.sleep` without a comment on the same line."""
    names = {'time.sleep'}
    if test.root.text is not None and _SLEEP_IMPORTED.search(test.root.text):
        names.add('sleep')
    rows = {node.start_point.row for node in walk_descendants(test.body) if node.type == 'comment'}
    return any(
        get_text(node) in names and node.end_point.row not in rows for node in _find_callees(test)
    )


def _is_string_or_ellipsis(node: Node) -> bool:
    if node.type != 'expression_statement':
        return False
    return all(
        child.type in ('string', 'concatenated_string', 'ellipsis') for child in node.children
    )


def _find_callees(test: PythonTest) -> Iterator[Node]:
    for node in walk_descendants(test.body):
        function = node.child_by_field_name('function') if node.type == 'call' else None
        if function is not None:
            yield function


def _find_assigned_names(body: Node) -> Iterator[Node]:
    for node in walk_descendants(body):
        left = node.child_by_field_name('left') if node.type == 'assignment' else None
        todo = [left] if left is not None else []
        while todo:
            target = todo.pop()
            if target.type == 'identifier':
                yield target
            elif target.type in _PATTERNS:
                todo += target.named_children


_SETS_UP = ('setUp', 'setUpClass')
_DEFAULT = 'MyTestCase'  # PyCharm's default name


def is_constructor_initialization(test: PythonTest) -> bool:
    """Return whether the class of the test itself declares `__init__`."""
    owner = test.owner
    return owner is not None and any(
        get_name(function) == '__init__' for function in list_functions(owner)
    )


def is_default_test(test: PythonTest) -> bool:
    """Return whether the class of the test has the name that PyCharm proposes: `MyTestCase`."""
    return test.owner is not None and get_name(get_definition(test.owner)) == _DEFAULT


def is_general_fixture(test: PythonTest) -> bool:
    """Return whether setUp or setUpClass assigns a field that the test does not use."""
    return bool(_find_fixture_fields(test) - _find_used_attributes(test))


def is_test_maverick(test: PythonTest) -> bool:
    """Return whether the test uses none of the fields that setUp or setUpClass assigns.

    False if these assign none.
    """
    fields = _find_fixture_fields(test)
    return bool(fields) and not fields & _find_used_attributes(test)


def _find_fixture_fields(test: PythonTest) -> set[str]:
    """Return the attributes of `self` or `cls` that setUp and setUpClass assign."""
    fields: set[str] = set()
    for function in list_functions(test.owner) if test.owner is not None else ():
        first = _get_first_parameter(function)
        if get_name(function) in _SETS_UP and first:
            for node in walk_descendants(function):
                left = node.child_by_field_name('left') if node.type == 'assignment' else None
                targets = (left, *walk_descendants(left)) if left is not None else ()
                fields |= {name for target in targets if (name := _get_attribute(target, first))}
    return fields


def _find_used_attributes(test: PythonTest) -> set[str]:
    first = _get_first_parameter(get_definition(test.function))
    return {
        name
        for node in walk_descendants(test.body)
        if first and (name := _get_attribute(node, first))
    }


def _get_first_parameter(function: Node) -> str:
    listed = function.child_by_field_name('parameters')
    named = listed.named_children if listed is not None else []
    return get_text(named[0]).partition(':')[0].strip() if named else ''


def _get_attribute(node: Node, owner: str) -> str:
    if node.type != 'attribute':
        return ''
    holder, name = node.child_by_field_name('object'), node.child_by_field_name('attribute')
    is_own = holder is not None and get_text(holder) == owner
    return get_text(name) if is_own and name is not None else ''
