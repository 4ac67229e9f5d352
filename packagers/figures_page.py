"""Render the figures of the newest release, beside those of the paper: `docs/figures.md` (`make docs`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.snapshots.snapshot import open_snapshots
from coevo.snapshots.statistics import STATISTICS, VERIFIED, Statistic, run_statistic
from packagers.dictionary import render_table

if TYPE_CHECKING:
    import duckdb

FILE = Path('docs/figures.md')
SNAPSHOTS = Path('snapshots')

# Rows of the tables of TestEvo-Bench, with its numbers as they are printed.
_TABLE_1 = {'generation': ('746', '2.63', '2.32'), 'update': ('509', '2.24', '3.15')}
_TABLE_4 = {
    'generation': ('1,961', '70.9 %', '8.18', '4.08', '56.1 %'),
    'update': ('1,138', '48.7 %', '8.70', '3.85', '45.1 %'),
}
_TABLE_5 = {
    'repositories': '91',
    'source files (mean)': '214',
    'source lines (mean)': '17,049',
    'commits (mean)': '7',
    'tasks (mean)': '14',
    'test methods of a task (mean)': '2',
}
_TABLE_11 = {
    ('static', 'positive'): ('66', '627', '1,369'),
    ('static', 'negative'): ('99', '2,603', '10,496'),
    ('dynamic', 'positive'): ('59', '509', '1,138'),
    ('dynamic', 'negative'): ('100', '2,721', '10,727'),
}

_HEAD = """\
# Figures of {month}

<!-- Made by `make docs` from snapshots/{month}; do not edit. -->

Each table is the answer to one query, which `coevo report statistics SNAPSHOT` asks of any snapshot; its text is
`coevo/snapshots/queries/NAME.sql`, which plain DuckDB runs, too. "Paper" is TestEvo-Bench, whose tasks are all in Java;
"coevo" is this month. Tasks of both ask for single tests that a commit changed."""

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
    for name, render in _SECTIONS.items():
        statistic = statistics[name]
        rows = _ask(connection, statistic)
        blocks += [f'## {statistic.title}', render(rows), f'{statistic.note} Query: `{name}`.']
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
    return render_table(columns, ([_format(row[name]) for name in columns] for row in rows))


def _render_table_1(rows: Sequence[Row]) -> str:
    names = ('tasks', 'tests_per_task', 'code_per_task')
    return _render_beside(
        ('track',),
        names,
        ((row['track'],) for row in rows),
        rows,
        {(k,): v for k, v in _TABLE_1.items()},
    )


def _render_table_4(rows: Sequence[Row]) -> str:
    names = (
        'test_methods',
        'share_with_mutants',
        'generated_per_method',
        'killed_per_method',
        'kill_rate',
    )
    percents = [
        {
            **row,
            **{name: _format_percent(row[name]) for name in ('share_with_mutants', 'kill_rate')},
        }
        for row in rows
    ]
    return _render_beside(
        ('track',),
        names,
        ((row['track'],) for row in rows),
        percents,
        {(k,): v for k, v in _TABLE_4.items()},
    )


def _render_table_5(rows: Sequence[Row]) -> str:
    return _render_beside(
        ('metric',),
        ('value',),
        ((row['metric'],) for row in rows),
        rows,
        {(k,): (v,) for k, v in _TABLE_5.items()},
    )


def _render_table_11(rows: Sequence[Row]) -> str:
    names = ('repositories', 'tasks', 'methods')
    keys = ((row['labelling'], row['class']) for row in rows)
    return _render_beside(('labelling', 'class'), names, keys, rows, _TABLE_11)


def _render_beside(
    keys: Sequence[str],
    names: Sequence[str],
    of_rows: Iterator[tuple[str, ...]],
    rows: Sequence[Row],
    paper: Mapping[Any, Sequence[str]],
) -> str:
    """Render each column of the rows beside the paper's; the paper's cells of a row that it lacks are empty."""
    head = [*keys, *(f'{name}, {whose}' for name in names for whose in ('paper', 'coevo'))]
    lines = []
    for key, row in zip(of_rows, rows, strict=True):
        theirs = paper.get(key, ('',) * len(names))
        cells = [
            cell
            for name, their in zip(names, theirs, strict=True)
            for cell in (their, _format(row[name]))
        ]
        lines.append([*key, *cells])
    return render_table(head, lines)


def _format(value: object) -> str:
    if value is None:
        return ''
    if isinstance(value, float):
        return f'{value:,.2f}'.removesuffix('.00')
    return f'{value:,}' if isinstance(value, int) else str(value)


def _format_percent(value: float | None) -> str:
    return '' if value is None else f'{100 * value:.1f} %'


_SECTIONS = {
    'table_1': _render_table_1,
    'table_4': _render_table_4,
    'table_5': _render_table_5,
    'table_11': _render_table_11,
    'by_language': _render_all,
    'funnel': _render_all,
    'cost': _render_all,
    'verified': _render_all,
}


def main() -> None:
    """Write the page to `docs/figures.md`."""
    FILE.write_text(render_page(), encoding='utf-8')


if __name__ == '__main__':
    main()
