"""Java as text: its syntax, its test frameworks and its source trees.

Implements `coevo.languages.reading.LanguageReading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coevo.languages import reading
from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.java.reading.project_files import (
    classify_path as classify_path,
    is_build_file as is_build_file,
    parse_licences as parse_licences,
)
from coevo.languages.java.reading.syntax import parse as parse, parse_uncached as parse_uncached
from coevo.languages.java.reading.tests import (
    find_tests as find_tests,
    guess_class_under_test as guess_class_under_test,
    is_run_by_framework as is_run_by_framework,
    list_expected_throws as list_expected_throws,
)
from coevo.languages.java.reading.tokens import LEXIS as LEXIS, list_words as list_words
from coevo.languages.java.reading.trees import open_tree as open_tree
from coevo.languages.verdicts import ExecutedMethod

# Match methods of class files with declarations of a source file.
#
# Class files name methods differently from sources: a constructor is `<init>`, which also contains
# the field initialisers, and lambdas and local classes have generated names. Line numbers resolve
# the rest.

_PARAMETER = re.compile(r'\[*(?:L([^;]+);|[BCDFIJSZ])')


def is_part_of(executed_method: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Return whether an executed method is the given member of a type, or lies inside it.

    Lambdas and local classes lie inside the member that contains them. If `member` is None, return
    whether the method belongs to the type itself, and not to a nested one.
    """
    if member is None:
        return executed_method.type == type_.name
    name = '<init>' if member.kind == 'constructor' else member.name
    if executed_method.type == type_.name and executed_method.method == name:
        overloads = [m for m in type_.members if (m.kind, m.name) == (member.kind, member.name)]
        return (
            len(overloads) == 1
            or _starts_or_ends_in(executed_method, member)
            or _matches_descriptor(executed_method, member, overloads)
        )
    inside = executed_method.type.startswith(f'{type_.name}$') or executed_method.method.startswith(
        'lambda$'
    )
    return (
        inside and bool(executed_method.first_line) and _is_inside_member(executed_method, member)
    )


def _is_inside_member(one: ExecutedMethod, member: Member) -> bool:
    return member.start_line <= one.first_line and one.last_line <= member.end_line


def _starts_or_ends_in(one: ExecutedMethod, member: Member) -> bool:
    return any(
        member.start_line <= line <= member.end_line for line in (one.first_line, one.last_line)
    )


def _matches_descriptor(one: ExecutedMethod, member: Member, overloads: list[Member]) -> bool:
    """Return whether the parameter types of an executed method are those of this overload.

    Returns False if its lines lie in one of the overloads, since then they decide.
    """
    if any(_starts_or_ends_in(one, other) for other in overloads):
        return False
    types = tuple(_parse_parameters(one.descriptor))
    return types[len(types) - len(member.parameters) :] == member.parameters


def _parse_parameters(descriptor: str) -> Iterator[str]:
    """Yield the simple names of the parameter types in a method descriptor."""
    plain = dict(
        zip(
            'BCDFIJSZ',
            ['byte', 'char', 'double', 'float', 'int', 'long', 'short', 'boolean'],
            strict=True,
        )
    )
    for match in _PARAMETER.finditer(descriptor.partition(')')[0]):
        text = match.group(0)
        dimensions = len(text) - len(text.lstrip('['))
        own = match.group(1)
        name = re.split(r'[/$]', own)[-1] if own else plain[text[-1]]
        yield name + '[]' * dimensions


# Method names that calls use for the JDK or a test library far more often than for the project.

COMMON_CALLS = frozenset(
    [
        'accept',
        'add',
        'addAll',
        'and',
        'apply',
        'as',
        'assertEquals',
        'assertThat',
        'call',
        'charAt',
        'clear',
        'clone',
        'close',
        'compare',
        'compareTo',
        'contains',
        'containsKey',
        'copy',
        'count',
        'create',
        'equals',
        'filter',
        'first',
        'forEach',
        'format',
        'from',
        'get',
        'getBytes',
        'getClass',
        'getId',
        'getKey',
        'getMessage',
        'getName',
        'getType',
        'getValue',
        'getValues',
        'hasNext',
        'hashCode',
        'indexOf',
        'is',
        'isEmpty',
        'iterator',
        'join',
        'keySet',
        'last',
        'length',
        'list',
        'map',
        'max',
        'min',
        'name',
        'next',
        'of',
        'or',
        'parse',
        'print',
        'println',
        'put',
        'putAll',
        'read',
        'remove',
        'replace',
        'reset',
        'reverse',
        'run',
        'set',
        'setName',
        'setValue',
        'size',
        'sort',
        'split',
        'start',
        'stop',
        'stream',
        'substring',
        'sum',
        'test',
        'then',
        'toArray',
        'toList',
        'toString',
        'trim',
        'type',
        'update',
        'value',
        'valueOf',
        'values',
        'verify',
        'wait',
        'when',
        'write',
    ]
)

SUFFIXES = ('.java',)
TESTS_AMONG_SOURCES = True

list_provided_fixture_names = reading.provide_no_fixture_names
may_request_any_fixture = reading.request_no_fixtures
list_reference_names = reading.name_by_stem
list_watch_names = reading.name_by_types
explain_refusal = reading.accept_any_file
PARSERS = ('tree-sitter', 'tree-sitter-java')
