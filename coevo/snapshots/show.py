"""`coevo show`: show a task, method, drop, pair or repository of a snapshot as readable text."""

from __future__ import annotations

import difflib
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.display.terminal import escape_controls, hide_credentials
from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.labels import CELL_ORDER
from coevo.model.words import Outcome, ShownBy, Walk
from coevo.snapshots import show_pages as blocks, snapshot
from coevo.snapshots.show_pages import explain_reasons, render_drops

if TYPE_CHECKING:
    import duckdb

    from coevo.snapshots.show_pages import Row

    Page = Callable[[duckdb.DuckDBPyConnection, str], list[str]]
from typing import TYPE_CHECKING

from coevo.model.reasons import explain_reason
from coevo.snapshots.show_pages import render_by_reason

if TYPE_CHECKING:
    import duckdb

    from coevo.snapshots.show_pages import Row


def render_pairs(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Return a pair under each walk: its revisions, labelled methods, and what left the funnel.

    Empty if no pair has this id.
    """
    return [
        block
        for row in blocks.load_rows_with_value(connection, 'pairs', 'pair_id', id)
        for block in _render_pair(connection, row)
    ]


def _render_pair(connection: duckdb.DuckDBPyConnection, row: Row) -> Iterator[str]:
    of = f'pair_id = {snapshot.quote_sql(row["pair_id"])} AND walk = {snapshot.quote_sql(row["walk"])}'
    methods = blocks.query_rows(
        connection,
        f'FROM methods WHERE {of} ORDER BY test_file, test_class, test_method, method_id',
    )
    drops = blocks.query_rows(
        connection, f'FROM drops WHERE {of} ORDER BY test_file, test_class, test_method, key'
    )
    changed = [name for name in ('build', 'source', 'tests') if row[f'{name}_changed']]
    yield blocks.align_lines(
        [
            ('pair', f'{row["pair_id"]} ({row["walk"]})'),
            ('repository', blocks.join_parts(row['repo'], row['license'] or 'licence unknown')),
            ('old', blocks.join_parts(row['old_rev'], row['old_committer_date'])),
            ('new', blocks.join_parts(row['new_rev'], row['new_committer_date'])),
            ('changed', ', '.join(changed) or 'neither build, source nor tests'),
            ('built', blocks.join_parts(row['build_old'], row['build_new'], row['runtime'])),
            ('wanting', row['runtime_missing'] or ''),
            ('methods', f'{len(methods)} labelled, {row["candidates"]} looked at'),
        ]
    )
    yield blocks.format_titled('Labelled', _render_methods(methods))
    yield blocks.format_titled('Left the funnel', render_by_reason(drops))


def _render_methods(methods: list[Row]) -> str:
    lines = [
        [
            row['method_id'],
            row['change'],
            row['label'] or '',
            row['task_id'] or '',
            blocks.format_method_name(row),
        ]
        for row in methods
    ]
    head = ['method', 'change', 'label', 'task', 'test']
    return presentation.align_columns([head, *lines], [False] * len(head)) if lines else ''


def render_repository(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Return the walks and tasks of a repository, and how much left the funnel for which reason.

    Empty if the snapshot has no such repository.
    """
    walks = blocks.load_rows_with_value(connection, 'repositories', 'repo', name)
    if not walks:
        return []
    of = f'repo = {snapshot.quote_sql(name)}'
    labels = blocks.query_rows(
        connection,
        f'SELECT label, count(*) AS n FROM methods WHERE {of} AND label IS NOT NULL '
        'GROUP BY label ORDER BY n DESC, label',
    )
    return [
        blocks.align_lines([('repository', name), *_list_header_fields(walks)]),
        *map(_render_walk, walks),
        blocks.format_titled('Labels', ', '.join(f'{row["label"]} {row["n"]}' for row in labels)),
        blocks.format_titled('Tasks', _render_tasks(connection, of)),
        blocks.format_titled('Left the funnel', _render_reasons(connection, of)),
    ]


def _list_header_fields(walks: list[Row]) -> Iterator[tuple[str, str]]:
    first = walks[0]
    yield 'URL', first['url'] or 'unknown'
    yield 'licence', first['license'] or 'unknown'
    yield 'family', first['family'] if first['family'] != first['repo'] else ''


def _render_walk(row: Row) -> str:
    return blocks.align_lines(
        [
            ('walk', f'{row["walk"]} from {row["ref"]}, {row["language"]}'),
            ('head', row['head']),
            ('until', row['cutoff'] or 'unknown'),
            ('commits', f'{row["commits_visited"]} visited, {row["commits_kept"]} end a pair'),
            ('pairs', str(row['pairs_found'])),
        ]
    )


def _render_tasks(connection: duckdb.DuckDBPyConnection, of: str) -> str:
    tasks = blocks.query_rows(
        connection,
        'SELECT task_id, track, family, contamination_date::DATE::VARCHAR AS since, test_file '
        f'FROM tasks WHERE {of} ORDER BY contamination_date, task_id',
    )
    rows = [[r['task_id'], _name_kind(r), r['since'] or 'unknown', r['test_file']] for r in tasks]
    head = ['task', 'kind', 'public since', 'test file']
    return presentation.align_columns([head, *rows], [False] * len(head)) if rows else ''


def _render_reasons(connection: duckdb.DuckDBPyConnection, of: str) -> str:
    groups = blocks.query_rows(
        connection,
        f'SELECT stage, unit, reason, count(*) AS n FROM drops WHERE {of} GROUP BY ALL '
        'ORDER BY stage, n DESC, reason',
    )
    details = blocks.query_rows(
        connection,
        f"SELECT stage, reason, detail, count(*) AS n FROM drops WHERE {of} AND detail <> '' "
        'GROUP BY ALL ORDER BY n DESC, detail',
    )
    by_reason: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in details:
        by_reason[row['stage'], row['reason']].append(row)
    return '\n'.join(
        line
        for row in groups
        for line in _render_reason(row, by_reason[row['stage'], row['reason']])
    )


# Most details that are shown for a reason.
_MOST_DETAILS = 5


def _render_reason(group: Row, details: list[Row]) -> Iterator[str]:
    """Yield a line for a reason, and below it one for each of its most common details."""
    yield (
        f'{group["n"]:>5}  {group["unit"]}{"" if group["n"] == 1 else "s"} at {group["stage"]}: '
        f'{explain_reason(group["reason"])}'
    )
    for row in details[:_MOST_DETAILS]:
        yield f'       {row["n"]:>5}  {row["detail"]}'
    if len(details) > _MOST_DETAILS:
        yield f'       and {len(details) - _MOST_DETAILS} more details'


def render_by_id(path: Path | str, id: str) -> str:
    """Return what a snapshot holds about an id, as text.

    task_id, method_id   header, cells, dependencies and diffs
    key of a drop        the commit, method or task, with stage and reason
    pair_id, repository  everything in it: labels, tasks, and what left the funnel

    Raises: Fatal if the id is unknown.
    """
    with snapshot.translate_read_errors((path,)):
        connection = snapshot.open_snapshots(path)
        pages: tuple[Page, ...] = (partial(_render_task, place=_quote_place(path)), *_OTHER_PAGES)
        parts = next(filter(None, (page(connection, id) for page in pages)), [])
        if not parts:
            raise Fatal(_explain_withdrawn_or_unknown_id(connection, path, id))
    text = '\n\n'.join(part.rstrip('\n') for part in parts if part)
    return escape_controls(text)


def _describe_withheld_texts(place: str, task_id: str) -> str:
    return (
        'Its patches, prompt and sources are withheld here: '
        f'{snapshot.format_filling_command(place, task_id)} fills them in.'
    )


def _render_task(connection: duckdb.DuckDBPyConnection, id: str, *, place: str) -> list[str]:
    tasks = blocks.load_rows_with_value(connection, 'tasks', 'task_id', id)
    if not tasks:
        return []
    task = tasks[0]
    rows = blocks.load_rows_with_value(connection, 'methods', 'task_id', id)
    methods = [row for row in rows if row['pair_id'] == task['pair_id']]
    return [
        blocks.align_lines(
            [
                ('task', f'{task["task_id"]}: {_name_kind(task)}'),
                *_list_task_fields(task),
            ]
        ),
        *(
            f'{_format_title(row)}\n{_render_cells(row)}'
            for row in methods
            if row['walk'] == task['walk']
        ),
        _render_dependencies(task) if task['focus'] is None else '',
        _describe_withheld_texts(place, id) if task[TEXTS_WITHHELD] else '',
        blocks.format_titled('Tests by which code is graded', _render_demanded_tests(task)),
        blocks.format_titled('Tests, from the start file to the new one', task['test_patch']),
        blocks.format_titled('Sources, from old to new', task['source_patch']),
    ]


def _render_demanded_tests(task: Row) -> str:
    """Return a line for each labelled test of a task that asks for code; empty for other tasks."""
    rows = [
        [each['role'], each['test_method'], each['test_file'], each['method_id']]
        for each in task['demanded'] or ()
    ]
    head = ['role', 'test', 'file', 'method']
    return presentation.align_columns([head, *rows], [False] * len(head)) if rows else ''


def _render_method(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Return the page of a method; empty if no method has this id.

    If several walks have it, the first in the order of `Walk` is shown; the other rows differ in
    little.
    """
    rows = blocks.load_rows_with_value(connection, 'methods', 'method_id', id)
    if not rows:
        return []
    walks = [str(walk) for walk in Walk]
    row, *others = sorted(rows, key=lambda row: walks.index(row['walk']))
    tasks = (
        blocks.load_rows_with_value(connection, 'tasks', 'task_id', row['task_id'])
        if row['task_id']
        else []
    )
    other_walks = ', '.join(other['walk'] for other in others)
    return [
        blocks.align_lines(
            [
                ('method', _format_title(row)),
                *_list_method_fields(row),
                ('also under', other_walks),
                *(
                    ('no task', why)
                    for why in explain_reasons(
                        blocks.load_rows_with_value(connection, 'drops', 'key', id)
                    )
                ),
            ]
        ),
        _render_cells(row),
        _render_dependencies(row),
        blocks.format_titled('The test, from old to new', _render_difference(row)),
        *(blocks.format_titled('Sources, from old to new', task['source_patch']) for task in tasks),
    ]


# What a start state has of the targets of the pair's other tasks.
_SIBLINGS = {'absent': 'lacks', 'removed': 'lacks', 'stays': 'has'}


def _list_task_fields(task: Row) -> Iterator[tuple[str, str]]:
    yield 'repository', blocks.join_parts(task['repo'], task['url'], task['license'])
    yield from _list_history_fields(task)
    yield 'test file', task['test_file']
    yield 'focal', task['focal_method'] or ''
    yield 'focus', ', '.join(focus['declaration'] for focus in task['focus'] or ())
    yield 'unit', blocks.join_parts(task['unit'], _describe_executing_tests(task))
    yield (
        'start',
        blocks.join_parts(
            task['start_builder'], task['defect'], _describe_adequacy(task['start_adequacy'])
        ),
    )
    for sibling in task['siblings'] or ():
        yield (
            f'start {_SIBLINGS[sibling["undone"]]}',
            f'{", ".join(sibling["test_methods"])} of {sibling["test_file"]}, which another task asks for',
        )
    yield 'gold', _describe_adequacy(task['gold_adequacy'])
    yield 'gold reaches', ', '.join(task['reached'] or ())
    yield 'not verified', blocks.join_parts(*_list_doubts(task))
    environment = task['environment']
    if environment:
        built = (f'runtime {environment["runtime"]}', environment['build_tool'])
        yield 'environment', blocks.join_parts(*built)
        yield 'to build', environment['compile_command']
        yield 'to test', environment['test_command']
    yield 'also at', ', '.join(task['also_at'])


def _list_doubts(task: Row) -> Iterator[str]:
    """Yield what the columns behind the view `verified` object to in a task."""
    if task['trivial']:
        yield 'a trivial change'
    if task['moved']:
        yield 'the tests only moved'
    if task['focus_agreed'] is False:
        yield 'the assertions do not reach what the prompt names'
    yield from (ShownBy(kind).clause for kind in task['shown_by'] or ())


def _describe_executing_tests(task: Row) -> str | None:
    """Return how many tests execute the function of a task; None for other tasks."""
    tests, files = task['executing_tests'], task['executing_files']
    return None if tests is None else f'executed by {tests} tests in {files} files'


def _name_kind(task: Row) -> str:
    """Return the kind of a task: its family, or its track if it asks for single tests."""
    family = task['family'] or Family.COEVOLUTION
    return str(task['track'] if family == Family.COEVOLUTION else family)


def _describe_adequacy(found: Row | None) -> str:
    """Return the adequacy of a suite in words; omits whatever was not measured."""
    if found is None:
        return ''
    if found['tests'] == 0:
        return 'none'
    parts = {
        'tests pass': ('passing', 'tests'),
        'lines': ('covered_lines', 'lines'),
        'branches': ('covered_branches', 'branches'),
        'methods': ('covered_methods', 'methods'),
        'mutants killed': ('killed', 'mutants'),
    }
    shares = ((name, found[part], found[whole]) for name, (part, whole) in parts.items())
    return ', '.join(f'{part} of {whole} {name}' for name, part, whole in shares if whole)


def _list_method_fields(row: Row) -> Iterator[tuple[str, str]]:
    yield 'repository', row['repo']
    yield from _list_history_fields(row)
    yield 'test file', row['test_file']
    moved = blocks.join_parts(row['old_test_file'], row['old_test_class'], row['old_test_method'])
    yield 'before', moved
    by_module = blocks.join_parts(row['label_by_module'], row['track_by_module'] and 'a task')
    yield 'by module', by_module or 'no label'
    yield 'override', row['override'] or ''
    yield 'focal', row['focal_method'] or ''
    yield 'copy of', row['duplicate_of'] or ''
    yield 'task', row['task_id'] or ''


def _list_history_fields(row: Row) -> Iterator[tuple[str, str]]:
    yield 'pair', f'{row["pair_id"]} ({row["walk"]})'
    for end in ('old', 'new'):
        yield end, blocks.join_parts(row[f'{end}_rev'], row.get(f'{end}_committer_date'))
    yield (
        'public since',
        blocks.join_parts(row['contamination_date'] or 'unknown', row['contamination_basis']),
    )
    yield 'code since', row['code_first_seen'] or 'unknown'


def _format_title(row: Row) -> str:
    name = f'{row["test_class"]}#{row["test_method"]}({", ".join(row["parameters"])})'
    verdict = blocks.join_parts(row['label'] or 'no label of its own', row['cause'])
    return f'{name} [{row["method_id"]}] {row["change"]}: {verdict}'


def _render_cells(row: Row) -> str:
    head = ['cell', 'outcome', 'by module', 'runs that agree', 'signature']
    run = [cell for cell in CELL_ORDER if row[cell] is not None]
    lines = [
        [
            str(cell),
            row[cell],
            row[f'{cell}_unit'] or '',
            _count_agreeing_runs(row, cell),
            row[f'{cell}_signature'] or '',
        ]
        for cell in run
    ]
    return presentation.align_columns([head, *lines], [False] * len(head))


def _count_agreeing_runs(row: Row, cell: str) -> str:
    """Return how many runs of a cell had its outcome, such as `6 of 6`.

    Empty for a compile error, since what does not compile is not run.
    """
    runs, passes = row[f'{cell}_runs'], row[f'{cell}_passes']
    if row[cell] == Outcome.COMPILE_ERROR:
        return ''
    return f'{passes if row[cell] == Outcome.PASS else runs - passes} of {runs}'


def _render_dependencies(row: Row) -> str:
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
    return blocks.format_titled(
        'Changed dependencies', presentation.align_columns(lines, [True, *[False] * 3])
    )


def _render_difference(row: Row) -> str:
    old, new = ((row[name] or '').splitlines() for name in ('old_source', 'new_source'))
    return '\n'.join(difflib.unified_diff(old, new, 'old', 'new', lineterm=''))


def _explain_withdrawn_or_unknown_id(
    connection: duckdb.DuckDBPyConnection, path: Path | str, id: str
) -> str:
    withdrawn = blocks.load_rows_with_value(connection, 'withdrawn', 'id', id)
    if withdrawn:
        return f'{id} was withdrawn in {withdrawn[0]["month"]}: {withdrawn[0]["reason"]}'
    rows = connection.execute('SELECT DISTINCT repo FROM repositories ORDER BY 1').fetchall()
    names = [repo for (repo,) in rows]
    if '/' in id and names:
        near = difflib.get_close_matches(id, names) or names[:5]
        return f'{path} has no repository {id!r}; it has, for example, {", ".join(near)}'
    return (
        f'{path} has no task, method, drop, pair or repository {id!r}: list tasks with '
        f'coevo query {_quote_place(path)} "SELECT task_id, track, test_file FROM tasks"'
    )


def _quote_place(place: Path | str) -> str:
    """Return where the snapshot is, as a command takes it, without credentials."""
    return shlex.quote(hide_credentials(str(place)))


# What an id may be that is none of a task, in the order in which it is looked up.
_OTHER_PAGES: tuple[Page, ...] = (
    _render_method,
    render_pairs,
    render_repository,
    render_drops,
)
