"""`coevo show`: a task, method, drop, pair or repository of a snapshot as a person would read it."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.display.terminal import visible
from coevo.model.errors import Fatal
from coevo.model.labels import CELL_ORDER
from coevo.model.words import Walk
from coevo.snapshots import show_blocks as blocks
from coevo.snapshots import snapshot
from coevo.snapshots.show_drops import dropped
from coevo.snapshots.show_drops import reasons
from coevo.snapshots.show_places import pair
from coevo.snapshots.show_places import repository

if TYPE_CHECKING:
    import duckdb

    from coevo.snapshots.show_blocks import Row

    Page = Callable[[duckdb.DuckDBPyConnection, str], list[str]]


def show(path: Path | str, id: str) -> str:
    """The header, cells, dependencies and diffs of a task_id or method_id; Fatal if unknown.

    Of what left the funnel the test, the stage and the reason, in a sentence: a commit, method or
    task. Of a pair_id or a repository what became of all that it holds.
    """
    with snapshot.reading((path,)):
        connection = snapshot.open(path)
        parts = next(filter(None, (page(connection, id) for page in _PAGES)), [])
        if not parts:
            raise Fatal(_unknown(connection, path, id))
    text = '\n\n'.join(part.rstrip('\n') for part in parts if part)
    return visible(text)


def _task(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    found = blocks.rows(connection, 'tasks', 'task_id', id)
    if not found:
        return []
    task = found[0]
    rows = blocks.rows(connection, 'methods', 'task_id', id)
    methods = [row for row in rows if row['pair_id'] == task['pair_id']]
    return [
        blocks.lines([('task', f'{task["task_id"]}: {_kind(task)}'), *_task_header(task)]),
        *(f'{_title(row)}\n{_cells(row)}' for row in methods if row['walk'] == task['walk']),
        _dependencies(task) if task['focus'] is None else '',
        blocks.titled('Tests, from the start file to the new one', task['test_patch']),
        blocks.titled('Sources, from old to new', task['source_patch']),
    ]


def _method(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Of several walks the first in the order of `Walk`; the rows differ in little else."""
    found = blocks.rows(connection, 'methods', 'method_id', id)
    if not found:
        return []
    walks = [str(walk) for walk in Walk]
    row, *others = sorted(found, key=lambda row: walks.index(row['walk']))
    tasks = blocks.rows(connection, 'tasks', 'task_id', row['task_id']) if row['task_id'] else []
    other_walks = ', '.join(other['walk'] for other in others)
    return [
        blocks.lines(
            [
                ('method', _title(row)),
                *_method_header(row),
                ('also under', other_walks),
                *(('no task', why) for why in reasons(blocks.rows(connection, 'drops', 'key', id))),
            ]
        ),
        _cells(row),
        _dependencies(row),
        blocks.titled('The test, from old to new', _difference(row)),
        *(blocks.titled('Sources, from old to new', task['source_patch']) for task in tasks),
    ]


def _task_header(task: Row) -> Iterator[tuple[str, str]]:
    yield 'repository', blocks.joined(task['repo'], task['url'], task['license'])
    yield from _history(task)
    yield 'test file', task['test_file']
    yield 'focal', task['focal_method'] or ''
    yield 'focus', ', '.join(one['declaration'] for one in task['focus'] or ())
    yield 'unit', blocks.joined(task['unit'], _executing(task))
    yield (
        'start',
        blocks.joined(task['start_builder'], task['defect'], _adequacy(task['start_adequacy'])),
    )
    yield 'gold', _adequacy(task['gold_adequacy'])
    environment = task['environment']
    if environment:
        built = (f'runtime {environment["runtime"]}', environment['build_tool'])
        yield 'environment', blocks.joined(*built)
        yield 'to build', environment['compile_command']
        yield 'to test', environment['test_command']
    yield 'also at', ', '.join(task['also_at'])


def _executing(task: Row) -> str | None:
    """Of a function, what was seen to execute it."""
    tests, files = task['executing_tests'], task['executing_files']
    return None if tests is None else f'executed by {tests} tests in {files} files'


def _kind(task: Row) -> str:
    return str(task['track'] if task['focus'] is None else task['family'])


def _adequacy(found: Row | None) -> str:
    """What a suite is worth; what was not measured is left out."""
    if found is None:
        return ''
    parts = {
        'tests pass': ('passing', 'tests'),
        'lines': ('covered_lines', 'lines'),
        'branches': ('covered_branches', 'branches'),
        'methods': ('covered_methods', 'methods'),
        'mutants killed': ('killed', 'mutants'),
    }
    told = ((name, found[part], found[whole]) for name, (part, whole) in parts.items())
    return ', '.join(f'{part} of {whole} {name}' for name, part, whole in told if whole)


def _method_header(row: Row) -> Iterator[tuple[str, str]]:
    yield 'repository', row['repo']
    yield from _history(row)
    yield 'test file', row['test_file']
    moved = blocks.joined(row['old_test_file'], row['old_test_class'], row['old_test_method'])
    yield 'before', moved
    by_module = blocks.joined(row['label_by_module'], row['track_by_module'] and 'a task')
    yield 'by module', by_module or 'no label'
    yield 'override', row['override'] or ''
    yield 'focal', row['focal_method'] or ''
    yield 'copy of', row['duplicate_of'] or ''
    yield 'task', row['task_id'] or ''


def _history(row: Row) -> Iterator[tuple[str, str]]:
    yield 'pair', f'{row["pair_id"]} ({row["walk"]})'
    for end in ('old', 'new'):
        yield end, blocks.joined(row[f'{end}_rev'], row.get(f'{end}_committer_date'))
    yield (
        'public since',
        blocks.joined(row['contamination_date'] or 'unknown', row['contamination_basis']),
    )
    yield 'code since', row['code_first_seen'] or 'unknown'


def _title(row: Row) -> str:
    name = f'{row["test_class"]}#{row["test_method"]}({", ".join(row["parameters"])})'
    verdict = blocks.joined(row['label'] or 'no label of its own', row['cause'])
    return f'{name} [{row["method_id"]}] {row["change"]}: {verdict}'


def _cells(row: Row) -> str:
    head = ['cell', 'outcome', 'by module', 'passed', 'signature']
    run = [cell for cell in CELL_ORDER if row[cell] is not None]
    lines = [
        [
            str(cell),
            row[cell],
            row[f'{cell}_unit'] or '',
            f'{row[f"{cell}_passes"]} of {row[f"{cell}_runs"]}',
            row[f'{cell}_signature'] or '',
        ]
        for cell in run
    ]
    return presentation.columns([head, *lines], [False] * len(head))


def _dependencies(row: Row) -> str:
    lines = [
        [
            str(item['rank']),
            item['revised'],
            f'{item["file"]}:{item["start_line"]}-{item["end_line"]}',
            item['declaration'],
        ]
        for item in row['dependencies']
    ]
    if not lines:
        return 'No changed dependency is known.'
    return blocks.titled('Changed dependencies', presentation.columns(lines, [True, *[False] * 3]))


def _difference(row: Row) -> str:
    old, new = ((row[name] or '').splitlines() for name in ('old_source', 'new_source'))
    return '\n'.join(difflib.unified_diff(old, new, 'old', 'new', lineterm=''))


def _unknown(connection: duckdb.DuckDBPyConnection, path: Path | str, id: str) -> str:
    gone = blocks.rows(connection, 'withdrawn', 'id', id)
    if gone:
        return f'{id} was withdrawn in {gone[0]["month"]}: {gone[0]["reason"]}'
    return (
        f'{path} has no task, method, drop, pair or repository {id!r}: list tasks with '
        'coevo query SNAPSHOT "SELECT task_id, track, test_file FROM tasks"'
    )


# What an id may name, in the order in which it is looked for.
_PAGES: tuple[Page, ...] = (_task, _method, pair, repository, dropped)
