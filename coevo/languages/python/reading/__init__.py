"""Python sources as text: syntax, test frameworks and source trees. Implements
`coevo.languages.reading.LanguageReading`.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterable, Iterator
from typing import Any

from coevo.languages import reading
from coevo.languages.module_code import parse_python
from coevo.languages.python.reading.module_paths import (
    classify_path as classify_path,
    is_build_file as is_build_file,
)
from coevo.languages.python.reading.statements import is_part_of as is_part_of
from coevo.languages.python.reading.syntax import parse as parse, parse_uncached as parse_uncached
from coevo.languages.python.reading.tests import (
    find_tests as find_tests,
    guess_class_under_test as guess_class_under_test,
    is_run_by_framework as is_run_by_framework,
    list_provided_fixture_names as list_provided_fixture_names,
    may_request_any_fixture as may_request_any_fixture,
)
from coevo.languages.python.reading.trees import open_tree as open_tree
from coevo.languages.python.reading.words import LEXIS as LEXIS, list_words as list_words
from coevo.languages.reading import DeclaredLicence
from coevo.storage.bounded_reading import parse_toml

# The licences stated in the metadata of a Python project; no project code is run.
#
# The field `license` is used, as an SPDX expression (PEP 639) or a name. Without it, the
# classifiers are used.

_CLASSIFIER = re.compile(r'License :: (?:OSI Approved :: )?(.+)')
_CHOICE = re.compile(r'\s+OR\s+')
# A longer value is the text of a licence rather than its name.
_LONGEST = 100


def parse_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """Return the licences that a pyproject.toml, setup.cfg or setup.py states; () for other files.

    Alternatives (`MIT OR Apache-2.0`) are returned separately.
    """
    text = build_file.decode('utf-8', 'replace')
    for read in (_parse_toml, _parse_cfg, _parse_script):
        names = tuple(_list_licence_names(*read(text)))
        if names:
            return tuple(DeclaredLicence(name=name) for name in names)
    return ()


def _list_licence_names(field: object, classifiers: Iterable[object]) -> Iterator[str]:
    if isinstance(field, str) and 0 < len(field.strip()) <= _LONGEST:
        yield from _CHOICE.split(field.strip().strip('()'))
        return
    for classifier in classifiers:
        match = _CLASSIFIER.fullmatch(classifier.strip()) if isinstance(classifier, str) else None
        if match is not None:
            yield match[1]


_Declared = tuple[object, Iterable[object]]
_NOTHING: _Declared = (None, ())


def _parse_toml(text: str) -> _Declared:
    try:
        read = parse_toml(text)
    except ValueError:
        return _NOTHING
    project = _as_table(read.get('project')) or _as_table(_as_table(read.get('tool')).get('poetry'))
    field, classifiers = project.get('license'), project.get('classifiers')
    if isinstance(field, dict):
        field = field.get('text')
    return field, classifiers if isinstance(classifiers, list) else ()


def _as_table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _parse_cfg(text: str) -> _Declared:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return _NOTHING
    field = parser.get('metadata', 'license', fallback=None)
    return field, parser.get('metadata', 'classifiers', fallback='').splitlines()


def _parse_script(text: str) -> _Declared:
    """Return the literal values of `license` and `classifiers` in the first call of `setup`."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError):
        return _NOTHING
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _get_function_name(node.func) == 'setup':
            given = {keyword.arg: _evaluate_literal(keyword.value) for keyword in node.keywords}
            classifiers = given.get('classifiers')
            return given.get('license'), classifiers if isinstance(classifiers, list) else ()
    return _NOTHING


def _get_function_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ''


def _evaluate_literal(value: ast.expr) -> object:
    """Return the value of a literal; None for any other expression."""
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


# Method names that usually belong to a built-in type rather than to the project.
#
# They are the methods of str, bytes, list, dict, set, files, mocks and TestCase in Python 3.11, and
# names that many classes share. The list is written out so that it does not depend on the
# interpreter.

COMMON_CALLS = frozenset(
    [
        'add',
        'append',
        'as_integer_ratio',
        'assertEqual',
        'assertRaises',
        'bit_count',
        'bit_length',
        'call_args',
        'called',
        'capitalize',
        'casefold',
        'center',
        'clear',
        'close',
        'conjugate',
        'copy',
        'count',
        'data',
        'decode',
        'difference',
        'difference_update',
        'discard',
        'encode',
        'endswith',
        'exists',
        'expandtabs',
        'extend',
        'find',
        'flush',
        'format',
        'format_map',
        'fromhex',
        'fromkeys',
        'get',
        'get_name',
        'group',
        'hex',
        'id',
        'index',
        'insert',
        'intersection',
        'intersection_update',
        'isalnum',
        'isalpha',
        'isascii',
        'isatty',
        'isdecimal',
        'isdigit',
        'isdisjoint',
        'isidentifier',
        'islower',
        'isnumeric',
        'isprintable',
        'isspace',
        'issubset',
        'issuperset',
        'istitle',
        'isupper',
        'is_integer',
        'items',
        'iter',
        'join',
        'keys',
        'ljust',
        'load',
        'loads',
        'dump',
        'dumps',
        'lower',
        'lstrip',
        'main',
        'maketrans',
        'match',
        'mkdir',
        'name',
        'next',
        'open',
        'parametrize',
        'partition',
        'path',
        'pop',
        'popitem',
        'print',
        'put',
        'raises',
        'read',
        'readline',
        'readlines',
        'remove',
        'removeprefix',
        'removesuffix',
        'replace',
        'reset',
        'return_value',
        'reverse',
        'rfind',
        'rindex',
        'rjust',
        'rpartition',
        'rsplit',
        'rstrip',
        'run',
        'search',
        'seek',
        'self',
        'send',
        'set',
        'setdefault',
        'setUp',
        'side_effect',
        'size',
        'sort',
        'split',
        'splitlines',
        'start',
        'startswith',
        'stop',
        'strip',
        'sub',
        'swapcase',
        'symmetric_difference',
        'symmetric_difference_update',
        'tell',
        'text',
        'title',
        'to_bytes',
        'translate',
        'type',
        'union',
        'unlink',
        'update',
        'upper',
        'value',
        'values',
        'wait',
        'warns',
        'write',
        'writelines',
        'zfill',
    ]
)

SUFFIXES = ('.py',)
TESTS_AMONG_SOURCES = False

list_reference_names = reading.name_by_stem
list_watch_names = reading.name_by_types
explain_refusal = reading.accept_any_file
list_expected_throws = reading.expect_no_throws
PARSERS = ('tree-sitter', 'tree-sitter-python')
