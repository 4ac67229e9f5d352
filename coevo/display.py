"""`coevo show`: a task or a test method of a snapshot, as a person wants to read it."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

from coevo import snapshot
from coevo.errors import Fatal
from coevo.labels import CELL_ORDER
from coevo.presentation import columns
from coevo.presentation import visible

if TYPE_CHECKING:
    import duckdb


_COLOURS = {'+': '\033[32m', '-': '\033[31m', '@': '\033[36m'}
_BOLD, _PLAIN = '\033[1m', '\033[0m'


def show(path: Path, id_: str) -> str:
    """The text for an id; coloured where standard output is a terminal. Fatal if it is unknown."""
    text = plain(path, id_)
    coloured = sys.stdout.isatty() and not os.environ.get('NO_COLOR')
    return colour(text) if coloured else text


def plain(path: Path, id_: str) -> str:
    """The text without colours."""
    connection = snapshot.open(path)
    tasks = _rows(connection, 'tasks', 'task_id', id_)
    methods = _rows(connection, 'methods', 'method_id', id_)
    if tasks:
        return visible('\n'.join(_task(connection, tasks[0])))
    if methods:
        return visible('\n\n'.join('\n'.join(_method(row)) for row in methods))
    raise Fatal(
        f'{path} has neither a task nor a method {id_!r}: look for one with '
        f'coevo query {path} "SELECT task_id, test_file FROM tasks"'
    )


def colour(text: str) -> str:
    """Diffs and headings in the colours of a terminal."""
    return '\n'.join(_coloured(line) for line in text.split('\n'))


def _coloured(line: str) -> str:
    if line.startswith('== ') or re.match(r'(\+\+\+|---) ', line):
        return f'{_BOLD}{line}{_PLAIN}'
    code = _COLOURS.get(line[:1])
    return f'{code}{line}{_PLAIN}' if code else line


def _rows(
    connection: duckdb.DuckDBPyConnection, table: str, key: str, id_: str
) -> list[dict[str, Any]]:
    relation = connection.sql(f'FROM {table}')
    times = [
        name
        for name, kind in zip(relation.columns, relation.types, strict=True)
        if str(kind) == 'TIMESTAMP WITH TIME ZONE'
    ]
    texts = ', '.join(
        f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M') AS {name}" for name in times
    )
    sql = f'SELECT * REPLACE ({texts}) FROM {table} WHERE {key} = ? ORDER BY ALL'
    result = connection.execute(sql, [id_])
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _task(connection: duckdb.DuckDBPyConnection, row: Mapping[str, Any]) -> Iterator[str]:
    yield f'== task {row["task_id"]}: {row["track"]} of {row["test_file"]}'
    yield from _pairs(
        repository=_with(row['repo'], row['license']),
        old=_revision(row, 'old'),
        new=_revision(row, 'new'),
        public=_public(row),
        focal=row['focal_method'],
        pair=row['pair_id'],
        also=' '.join(row['also_at']),
    )
    environment = row['environment']
    if environment:
        yield from _pairs(jdk=environment['jdk'], run=environment['test_command'])
    yield ''
    for id_ in row['method_ids']:
        for method in _rows(connection, 'methods', 'method_id', id_):
            if method['walk'] == row['walk']:
                yield f'== {method["test_class"]}#{method["test_method"]} ({id_})'
                yield _cells(method)
    yield from _dependencies(row)
    yield '== the test, from the start of the task to its gold'
    yield row['test_patch']
    yield '== the source, from old to new'
    yield row['source_patch']


def _method(row: Mapping[str, Any]) -> Iterator[str]:
    name = f'{row["test_class"]}#{row["test_method"]}({", ".join(row["parameters"])})'
    yield f'== method {row["method_id"]}: {name}'
    yield from _pairs(
        label=_with(row['label'] or 'none', row['track'] and f'task {row["task_id"]}'),
        by_module=row['label_by_module'] if row['label_by_module'] != row['label'] else None,
        change=row['change'],
        cause=row['cause'],
        override=row['override'],
        repository=_with(row['repo'], row['walk']),
        old=row['old_rev'],
        new=row['new_rev'],
        file=row['test_file'],
        old_file=row['old_test_file'],
        public=_public(row),
        duplicate_of=row['duplicate_of'],
        focal=row['focal_method'],
        pair=row['pair_id'],
    )
    yield ''
    yield _cells(row)
    yield from _dependencies(row)
    yield '== the test, from old to new'
    yield from difflib.unified_diff(
        (row['old_source'] or '').splitlines(),
        (row['new_source'] or '').splitlines(),
        'old',
        'new',
        n=99,
        lineterm='',
    )


def _pairs(**values: str | None) -> Iterator[str]:
    for name, value in values.items():
        if value:
            yield f'{name.replace("_", " "):13}{value}'


def _with(value: str, more: str | None) -> str:
    return f'{value} ({more})' if more else value


def _revision(row: Mapping[str, Any], end: str) -> str:
    return _with(row[f'{end}_rev'], row[f'{end}_committer_date'])


def _public(row: Mapping[str, Any]) -> str:
    return _with(row['contamination_date'] or 'no telling since when', row['contamination_basis'])


def _cells(row: Mapping[str, Any]) -> str:
    head = ('cell', 'outcome', 'by module', 'passed', 'failure')
    lines = [
        (
            str(cell),
            row[cell],
            row[f'{cell}_unit'] or '',
            f'{row[f"{cell}_passes"]} of {row[f"{cell}_runs"]}',
            row[f'{cell}_signature'] or '',
        )
        for cell in CELL_ORDER
        if row[cell] is not None
    ]
    return columns([head, *lines], [False] * len(head))


def _dependencies(row: Mapping[str, Any]) -> Iterator[str]:
    if row['dependencies']:
        yield '== changed code that it depends on'
    for item in row['dependencies']:
        yield (
            f'{item["file"]}:{item["start_line"]}-{item["end_line"]}  {item["revised"]}  '
            f'{item["declaration"]}'
        )
    yield ''
