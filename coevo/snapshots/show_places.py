"""A pair or a repository for `coevo show`: what became of all that it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.model.reasons import explained
from coevo.snapshots import show_blocks as blocks
from coevo.snapshots import snapshot
from coevo.snapshots.show_drops import by_reason

if TYPE_CHECKING:
    import duckdb

    from coevo.snapshots.show_blocks import Row


def pair(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Under each walk the two revisions, the labelled methods, and what left the funnel."""
    return [
        block
        for row in blocks.rows(connection, 'pairs', 'pair_id', id)
        for block in _pair(connection, row)
    ]


def _pair(connection: duckdb.DuckDBPyConnection, row: Row) -> Iterator[str]:
    of = f'pair_id = {snapshot.quoted(row["pair_id"])} AND walk = {snapshot.quoted(row["walk"])}'
    methods = blocks.asked(
        connection,
        f'FROM methods WHERE {of} ORDER BY test_file, test_class, test_method, method_id',
    )
    drops = blocks.asked(
        connection, f'FROM drops WHERE {of} ORDER BY test_file, test_class, test_method, key'
    )
    changed = [name for name in ('build', 'source', 'tests') if row[f'{name}_changed']]
    yield blocks.lines(
        [
            ('pair', f'{row["pair_id"]} ({row["walk"]})'),
            ('repository', blocks.joined(row['repo'], row['license'] or 'licence unknown')),
            ('old', blocks.joined(row['old_rev'], row['old_committer_date'])),
            ('new', blocks.joined(row['new_rev'], row['new_committer_date'])),
            ('changed', ', '.join(changed) or 'neither build, source nor tests'),
            ('built', blocks.joined(row['build_old'], row['build_new'], row['runtime'])),
            ('wanting', row['runtime_missing'] or ''),
            ('methods', f'{len(methods)} labelled, {row["candidates"]} looked at'),
        ]
    )
    yield blocks.titled('Labelled', _methods(methods))
    yield blocks.titled('Left the funnel', by_reason(drops))


def _methods(methods: list[Row]) -> str:
    found = [
        [
            row['method_id'],
            row['change'],
            row['label'] or '',
            row['task_id'] or '',
            blocks.named(row),
        ]
        for row in methods
    ]
    head = ['method', 'change', 'label', 'task', 'test']
    return presentation.columns([head, *found], [False] * len(head)) if found else ''


def repository(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Its walks, its tasks, and how much left the funnel for which reason."""
    walks = blocks.rows(connection, 'repositories', 'repo', name)
    if not walks:
        return []
    of = f'repo = {snapshot.quoted(name)}'
    labels = blocks.asked(
        connection,
        f'SELECT label, count(*) AS n FROM methods WHERE {of} AND label IS NOT NULL '
        'GROUP BY label ORDER BY n DESC, label',
    )
    return [
        blocks.lines([('repository', name), *_header(walks)]),
        *map(_walk, walks),
        blocks.titled('Labels', ', '.join(f'{row["label"]} {row["n"]}' for row in labels)),
        blocks.titled('Tasks', _tasks(connection, of)),
        blocks.titled('Left the funnel', _reasons(connection, of)),
    ]


def _header(walks: list[Row]) -> Iterator[tuple[str, str]]:
    first = walks[0]
    yield 'URL', first['url'] or 'unknown'
    yield 'licence', first['license'] or 'unknown'
    yield 'family', first['family'] if first['family'] != first['repo'] else ''


def _walk(row: Row) -> str:
    return blocks.lines(
        [
            ('walk', f'{row["walk"]} from {row["ref"]}, {row["language"]}'),
            ('head', row['head']),
            ('until', row['cutoff'] or 'unknown'),
            ('commits', f'{row["commits_visited"]} visited, {row["commits_kept"]} end a pair'),
            ('pairs', str(row['pairs_found'])),
        ]
    )


def _tasks(connection: duckdb.DuckDBPyConnection, of: str) -> str:
    found = blocks.asked(
        connection,
        'SELECT task_id, track, contamination_date::DATE::VARCHAR AS since, test_file FROM tasks '
        f'WHERE {of} ORDER BY contamination_date, task_id',
    )
    rows = [[r['task_id'], r['track'], r['since'] or 'unknown', r['test_file']] for r in found]
    head = ['task', 'track', 'public since', 'test file']
    return presentation.columns([head, *rows], [False] * len(head)) if rows else ''


def _reasons(connection: duckdb.DuckDBPyConnection, of: str) -> str:
    found = blocks.asked(
        connection,
        f'SELECT stage, unit, reason, count(*) AS n FROM drops WHERE {of} GROUP BY ALL '
        'ORDER BY stage, n DESC, reason',
    )
    return '\n'.join(
        f'{row["n"]:>5}  {row["unit"]}{"" if row["n"] == 1 else "s"} at {row["stage"]}: '
        f'{explained(row["reason"])}'
        for row in found
    )
