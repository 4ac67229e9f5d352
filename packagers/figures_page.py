"""Render the figures of the newest release, beside those of the paper: `docs/figures.md` (`make docs`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.snapshots.snapshot import open_snapshots
from coevo.snapshots.statistics import (
    STATISTICS,
    VERIFIED,
    Statistic,
    format_value,
    run_statistic,
)
from packagers.dictionary import render_table

if TYPE_CHECKING:
    import duckdb

FILE = Path('docs/figures.md')
SNAPSHOTS = Path('snapshots')


@dataclass(frozen=True, slots=True, kw_only=True)
class _PaperTable:
    """A table of TestEvo-Bench, with its numbers as they are printed.

    keys     the columns that name a row
    columns  the columns that are shown beside those of coevo
    rows     the numbers of each row that the paper has
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Mapping[tuple[str, ...], tuple[str, ...]]


# The sections of the page by their query; None is a table that the paper does not have.
_SECTIONS: Mapping[str, _PaperTable | None] = {
    'table_1': _PaperTable(
        keys=('track',),
        columns=('tasks', 'tests_per_task', 'code_per_task'),
        rows={('generation',): ('746', '2.63', '2.32'), ('update',): ('509', '2.24', '3.15')},
    ),
    'table_4': _PaperTable(
        keys=('track',),
        columns=(
            'test_methods',
            'share_with_mutants',
            'generated_per_method',
            'killed_per_method',
            'kill_rate',
        ),
        rows={
            ('generation',): ('1,961', '70.9 %', '8.18', '4.08', '56.1 %'),
            ('update',): ('1,138', '48.7 %', '8.70', '3.85', '45.1 %'),
        },
    ),
    'table_5': _PaperTable(
        keys=('metric',),
        columns=('value',),
        rows={
            ('repositories',): ('91',),
            ('source files (mean)',): ('214',),
            ('source lines (mean)',): ('17,049',),
            ('commits (mean)',): ('7',),
            ('tasks (mean)',): ('14',),
            ('test methods of a task (mean)',): ('2',),
        },
    ),
    'table_11': _PaperTable(
        keys=('labelling', 'class'),
        columns=('repositories', 'tasks', 'methods'),
        rows={
            ('static', 'positive'): ('66', '627', '1,369'),
            ('static', 'negative'): ('99', '2,603', '10,496'),
            ('dynamic', 'positive'): ('59', '509', '1,138'),
            ('dynamic', 'negative'): ('100', '2,721', '10,727'),
        },
    ),
    'by_language': None,
    'funnel': None,
    'cost': None,
    'verified': None,
}
# Shares that the paper prints in percent.
_PERCENTS = ('share_with_mutants', 'kill_rate')

_HEAD = """\
# Figures of {month}

<!-- Made by `make docs` from snapshots/{month}; do not edit. -->

This page has the statistics of the newest month, beside those of the paper where it has the same table. "Paper" is
TestEvo-Bench, whose tasks are all in Java; "coevo" is this month. Tasks of both ask for single tests that a commit
changed. `coevo report statistics SNAPSHOT` prints these tables for any snapshot. Each is the answer to one query,
`coevo/snapshots/queries/NAME.sql`, which also runs in DuckDB without coevo."""

_BASELINES = """
SELECT
    coalesce(strftime(contamination_date AT TIME ZONE 'UTC', '%Y'), 'unknown') AS public_since,
    regexp_extract(filename, '([^/]+)/results.parquet', 1) AS baseline,
    count(DISTINCT task_id) AS tasks,
    count(*) AS methods,
    count(*) FILTER (outcome = 'success') AS success,
    count(*) FILTER (success_strict) AS strict
FROM read_parquet($files, filename = true)
GROUP BY ALL
ORDER BY public_since, baseline"""
_BASELINES_NOTE = (
    'Methods of the tasks that each baseline attempted, by the year since which their answer may '
    "have been public. `gold` is the developers' own test."
)

Row = Mapping[str, Any]


def render_page(snapshots: Path = SNAPSHOTS) -> str:
    """Return the text of `docs/figures.md` for the newest month of a folder of code-free editions."""
    month = max(path.parent.name for path in snapshots.glob('*/code-free'))
    connection = open_snapshots(snapshots / month / 'code-free')
    statistics = {statistic.name: statistic for statistic in (*STATISTICS, VERIFIED)}
    blocks = [_HEAD.format(month=month)]
    for name, paper in _SECTIONS.items():
        statistic = statistics[name]
        rows = _ask(connection, statistic)
        table = _render_all(rows) if paper is None else _render_beside(rows, paper)
        blocks += [f'## {statistic.title}', table, f'{statistic.note} Query: `{name}`.']
    files = sorted(map(str, (snapshots / month / 'baselines').glob('*/results.parquet')))
    if files:
        answer = connection.sql(_BASELINES, params={'files': files})
        table = render_table(answer.columns, answer.fetchall())
        blocks += ['## Baselines by year', table, _BASELINES_NOTE]
    return '\n\n'.join(blocks) + '\n'


def _ask(connection: duckdb.DuckDBPyConnection, statistic: Statistic) -> list[Row]:
    """Return the rows of a statistic by column; of those by walk, the rows of real commits."""
    answer = run_statistic(connection, statistic)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    return [row for row in rows if row.get('walk', 'parents') == 'parents']


def _render_all(rows: Sequence[Row]) -> str:
    """Render all columns but `walk`."""
    columns = [name for name in rows[0] if name != 'walk']
    return render_table(columns, ([_format(name, row[name]) for name in columns] for row in rows))


def _render_beside(rows: Sequence[Row], paper: _PaperTable) -> str:
    """Render each column beside the paper's, whose cells are empty in a row that it lacks."""
    head = [*paper.keys, *(f'{name}, {of}' for name in paper.columns for of in ('paper', 'coevo'))]
    lines = []
    for row in rows:
        key = tuple(row[name] for name in paper.keys)
        theirs = paper.rows.get(key, ('',) * len(paper.columns))
        ours = (_format(name, row[name]) for name in paper.columns)
        lines.append([*key, *(cell for both in zip(theirs, ours, strict=True) for cell in both)])
    return render_table(head, lines)


def _format(name: str, value: Any) -> str:
    if value is not None and name in _PERCENTS:
        return f'{100 * value:.1f} %'
    return f'{value:,}' if isinstance(value, int) else format_value(value)


def main() -> None:
    """Write the page to `docs/figures.md`."""
    FILE.write_text(render_page(), encoding='utf-8')


if __name__ == '__main__':
    main()
