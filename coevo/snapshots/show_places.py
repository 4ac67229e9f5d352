"""A pair or a repository for `coevo show`: what became of all that it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.model.reasons import explain_reason
from coevo.snapshots import show_blocks as blocks
from coevo.snapshots import snapshot
from coevo.snapshots.show_drops import render_by_reason

if TYPE_CHECKING:
    import duckdb

    from coevo.snapshots.show_blocks import Row


def render_pairs(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Under each walk the two revisions, the labelled methods, and what left the funnel."""
    return [
        block
        for row in blocks.find_rows(connection, 'pairs', 'pair_id', id)
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
    """Its walks, its tasks, and how much left the funnel for which reason."""
    walks = blocks.find_rows(connection, 'repositories', 'repo', name)
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
        'SELECT task_id, track, contamination_date::DATE::VARCHAR AS since, test_file FROM tasks '
        f'WHERE {of} ORDER BY contamination_date, task_id',
    )
    rows = [[r['task_id'], r['track'], r['since'] or 'unknown', r['test_file']] for r in tasks]
    head = ['task', 'track', 'public since', 'test file']
    return presentation.align_columns([head, *rows], [False] * len(head)) if rows else ''


def _render_reasons(connection: duckdb.DuckDBPyConnection, of: str) -> str:
    groups = blocks.query_rows(
        connection,
        f'SELECT stage, unit, reason, count(*) AS n FROM drops WHERE {of} GROUP BY ALL '
        'ORDER BY stage, n DESC, reason',
    )
    return '\n'.join(
        f'{row["n"]:>5}  {row["unit"]}{"" if row["n"] == 1 else "s"} at {row["stage"]}: '
        f'{explain_reason(row["reason"])}'
        for row in groups
    )
