"""Mechanical fixes of Python's test files (MultiFileTest, Tables 19 and 20).

Names and paths of imports, missing imports, and brackets. Not fixed, unlike there: misspelled names,
access to files, and lines that would have to be removed. Implements
`coevo.languages.fixes.MechanicalFixer`.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coevo.languages.declarations import Import, SourceFile
from coevo.languages.fixes import Fix, FixRule, ProjectFiles, TestFailure, find_only, insert_line
from coevo.languages.python import reading

_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'|ModuleNotFoundError@([\w.]+)")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_MISSING = re.compile(r'missing:([\w.]+)\.(\w+)')

# The names that the paper lists, and what they stand for by convention.
_COMMON = {
    'np': 'import numpy as np',
    'pd': 'import pandas as pd',
    'plt': 'import matplotlib.pyplot as plt',
    'pytest': 'import pytest',
    'mock': 'from unittest import mock',
    'patch': 'from unittest.mock import patch',
    'Mock': 'from unittest.mock import Mock',
    'MagicMock': 'from unittest.mock import MagicMock',
}
_PAIRS = {')': '(', ']': '[', '}': '{'}
_CLOSING = {opening: closing for closing, opening in _PAIRS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """An import statement: its place, its module (None for `import a, b`), and its items."""

    start: int
    end: int
    module: str | None
    items: tuple[str, ...]

    @property
    def single_name_statements(self) -> Iterator[tuple[str, str]]:
        """Each bound name, with a statement that binds it alone."""
        for item in self.items:
            name, _, alias = (part.strip() for part in item.partition(' as '))
            if self.module is not None:
                yield alias or name, f'from {self.module} import {item}'
            elif alias or '.' not in name:
                yield alias or name, f'import {item}'


def propose_fix(project: ProjectFiles, source: bytes, failure: TestFailure) -> Fix | None:
    """See `MechanicalFixer.propose_fix`."""
    message = f'{failure.signature}\n{failure.message}'
    if match := _UNDEFINED.search(message):
        return _add_import(project, source, match[1])
    if match := _NO_NAME.search(message):
        return _correct_module_of_name(project, source, match[2], match[1])
    if match := _NO_MODULE.search(message):
        return _correct_absent_module(project, source, match[1] or match[2])
    if match := _MISSING.search(failure.signature):
        return _correct_module_of_name(project, source, match[1], match[2])
    return _balance_brackets(source) if 'SyntaxError' in failure.signature else None


def list_bound_names_with_imports(file: SourceFile, source: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names that a file's imports bind, each with a statement that binds it alone."""
    for statement in _list_import_statements(file.imports, source):
        if not (statement.module or '').startswith('.'):
            yield from statement.single_name_statements


def _list_import_statements(imports: Iterable[Import], source: bytes) -> Iterator[_Statement]:
    for start, end in sorted({(import_.start_byte, import_.end_byte) for import_ in imports}):
        text = re.sub(r'#[^\n]*', '', source[start:end].decode('utf-8', 'replace'))
        words = ' '.join(re.sub(r'[()\\]', ' ', text).split())
        match = re.fullmatch(r'(?:from (\S+) )?import (.+)', words)
        if match:
            items = tuple(item.strip() for item in match[2].split(',') if item.strip())
            yield _Statement(start=start, end=end, module=match[1], items=items)


def _add_import(project: ProjectFiles, source: bytes, name: str) -> Fix | None:
    modules = [module for module, declared in project.modules.items() if name in declared]
    declaring = find_only(modules)
    line = project.find_usual_import(name) or _COMMON.get(name)
    if line is None and declaring is not None:
        line = f'from {declaring} import {name}'
    if line is None and name in sys.stdlib_module_names:
        line = f'import {name}'
    if line is None or line.encode() in source.splitlines():  # the name is lacking elsewhere
        return None
    fixed = insert_line(source, _find_import_offset(source, project.path), line)
    return Fix(rule=FixRule.IMPORT_ADDED, text=line, source=fixed)


def _find_import_offset(source: bytes, path: str) -> int:
    """Return where an import can stand: before the first one that is indented by nothing.

    Imports from `__future__` come before it. Without any, it is the begin of the file.
    """
    after = 0
    for statement in _list_import_statements(reading.parse(source, path).imports, source):
        begins_line = source[: statement.start].endswith(b'\n') or statement.start == 0
        if statement.module == '__future__':
            line_end = source.find(b'\n', statement.end)
            after = len(source) if line_end < 0 else line_end + 1
        elif begins_line:
            return statement.start
    return after


def _correct_absent_module(project: ProjectFiles, source: bytes, absent: str) -> Fix | None:
    """Return the file with one import of an absent module corrected."""
    for statement in _list_import_statements(reading.parse(source, project.path).imports, source):
        if statement.module is not None and _is_within(statement.module, absent):
            names = {item.partition(' as ')[0].strip() for item in statement.items}
            right = _find_replacement_module(project, statement.module, names)
            if right is not None:
                line = f'from {right} import {", ".join(statement.items)}'
                return _replace_statement(source, statement, line)
        elif statement.module is None and len(statement.items) == 1:
            name, _, alias = (part.strip() for part in statement.items[0].partition(' as '))
            right = (
                _find_replacement_module(project, name, ()) if _is_within(name, absent) else None
            )
            if right is not None and (alias or '.' not in name):
                return _replace_statement(source, statement, f'import {right} as {alias or name}')
    return None


def _is_within(module: str, absent: str) -> bool:
    return f'{module}.'.startswith(f'{absent}.')


def _find_replacement_module(project: ProjectFiles, wrong: str, names: Iterable[str]) -> str | None:
    """Return the only module that declares all names or, without names, that has the last part."""
    wanted = frozenset(names)
    if wanted:
        declaring = find_only(
            module for module, declared in project.modules.items() if wanted <= declared
        )
        if declaring is not None:
            return declaring
    last = wrong.rpartition('.')[2]
    return find_only(
        module for module in project.modules if module.rpartition('.')[2] == last != module
    )


def _correct_module_of_name(
    project: ProjectFiles, source: bytes, module: str, name: str
) -> Fix | None:
    """Return the file with the import of a name taken from the only module that declares it."""
    right = find_only(other for other, declared in project.modules.items() if name in declared)
    if right is None or right == module:
        return None
    for statement in _list_import_statements(reading.parse(source, project.path).imports, source):
        if statement.module != module:
            continue
        own = [item for item in statement.items if item.partition(' as ')[0].strip() == name]
        others = [item for item in statement.items if item not in own]
        if own:
            line = f'from {right} import {", ".join(own)}'
            remaining_import = f'from {module} import {", ".join(others)}; ' if others else ''
            return _replace_statement(source, statement, remaining_import + line)
    return None


def _replace_statement(source: bytes, statement: _Statement, line: str) -> Fix:
    fixed = source[: statement.start] + line.encode() + source[statement.end :]
    return Fix(rule=FixRule.IMPORT_CORRECTED, text=line, source=fixed)


def _balance_brackets(source: bytes) -> Fix | None:
    """Return the file with all brackets closed at its end, or without the first one too many."""
    text = source.decode('utf-8', 'surrogateescape')
    left: list[str] = []
    for token in _list_operators(text):
        if token.string in _CLOSING:
            left.append(token.string)
        elif token.string in _PAIRS and left and left[-1] == _PAIRS[token.string]:
            left.pop()
        elif token.string in _PAIRS:
            return _remove_bracket(text, token) if not left else None
    if not left:
        return None
    closing = ''.join(_CLOSING[opening] for opening in reversed(left))
    fixed = f'{text.rstrip()}{closing}\n'.encode('utf-8', 'surrogateescape')
    return Fix(rule=FixRule.BRACKETS, text=closing, source=fixed)


def _list_operators(text: str) -> Sequence[tokenize.TokenInfo]:
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.OP:
                tokens.append(token)
    except (tokenize.TokenError, SyntaxError):
        pass  # the text ends within brackets, or is no Python from here on
    return tokens


def _remove_bracket(text: str, token: tokenize.TokenInfo) -> Fix:
    lines = text.splitlines(keepends=True)
    row, column = token.start
    lines[row - 1] = lines[row - 1][:column] + lines[row - 1][column + 1 :]
    fixed = ''.join(lines).encode('utf-8', 'surrogateescape')
    return Fix(rule=FixRule.BRACKETS, text=lines[row - 1].strip(), source=fixed)
