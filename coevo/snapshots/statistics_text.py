"""`coevo report statistics`: the tables and the figure of TestEvo-Bench for a snapshot, and its costs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.display.terminal import escape_controls
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot
from coevo.snapshots.assertion_density import COLUMNS, list_assertion_densities_by_language
from coevo.snapshots.statistics import (
    FIGURES,
    STATISTICS,
    describe_withheld_texts,
)

if TYPE_CHECKING:
    import duckdb


_WIDTH = 80
_RESULTS = 'results.parquet'
_ASSERTIONS_NOTE = 'In the tests at new, not in helpers that they call; lines that are not blank.'
_NUMBERS = (int, float, type(None))

_MINING = """
SELECT walk::VARCHAR AS walk, step, sum("count")::BIGINT AS times,
    round(sum(cpu_seconds)) AS cpu_seconds, round(sum(wall_seconds)) AS wall_seconds
FROM timings GROUP BY ALL ORDER BY ALL"""
_MINING_NOTE = (
    'What mining took, by step, of the runs that a machine had to make; it is outside of the checksums.'
    ' Programs in the sandbox have processor time alone; `pair` has the elapsed time of whole pairs.'
)
# The agent's seconds are those of the whole task, repeated in the row of each target.
_TIMES = """
SELECT track::VARCHAR AS track, count(*) AS tasks, round(sum(run)) AS run_seconds,
    round(sum(agent)) AS agent_seconds, count(agent) AS tasks_with_agent_seconds
FROM (SELECT track, task_id, sum(seconds) AS run, any_value(agent_seconds) AS agent
    FROM read_parquet($file) GROUP BY track, task_id)
GROUP BY track ORDER BY track"""
_TIMES_NOTE = (
    'Elapsed time of all runs that judging took (the paper: of all tests once), and what agents say that'
    ' they took. What was judged before has the time that it took then.'
)


def render_statistics(place: Path | str, results: Path | None = None) -> str:
    """Return all statistics as text, each with its heading and note.

    results  the --out folder of a `coevo evaluate`, to add run and attempt times

    Raises: Fatal or DamagedSnapshot if this is no snapshot, Fatal if the folder has no results.
    """
    with snapshot.translate_read_errors((place,)):
        blocks = list(_render_blocks(snapshot.open_snapshots(place), results))
    return '\n\n'.join(blocks) + '\n'


def _render_blocks(connection: duckdb.DuckDBPyConnection, results: Path | None) -> Iterator[str]:
    withheld = describe_withheld_texts(connection)
    for statistic in (FIGURES, *STATISTICS):
        note = f'{statistic.note} {withheld}' if statistic.name == 'table_1' else statistic.note
        yield _render_block(statistic.title, connection.sql(statistic.sql), note.strip())
    densities = list(list_assertion_densities_by_language(connection))
    if densities:
        heading = 'Assertions of the target tests (TAM-Eval, assert density)'
        yield f'{heading}\n\n{_render_table(COLUMNS, densities)}\n{_ASSERTIONS_NOTE}'
    yield _render_block('What mining took', connection.sql(_MINING), _MINING_NOTE)
    if results is not None:
        file = results / _RESULTS
        if not file.is_file():
            raise Fatal(f'{results} has no {_RESULTS}; name the --out of a `coevo evaluate`')
        times = connection.sql(_TIMES, params={'file': str(file)})
        yield _render_block('Run and attempt times (Table 1)', times, _TIMES_NOTE)


def _render_block(title: str, answer: duckdb.DuckDBPyRelation, note: str) -> str:
    wrapped_note = '\n'.join(textwrap.wrap(note, _WIDTH))
    return f'{title}\n\n{_render_table(answer.columns, answer.fetchall())}\n{wrapped_note}'


def _render_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table, laid out to fit a terminal.

    Rows are lines if they fit; else columns are lines; else each row is a block of its own.
    """
    shown = [[_format_value(value) for value in row] for row in rows]
    right = [all(isinstance(row[at], _NUMBERS) for row in rows) for at in range(len(names))]
    table = presentation.align_columns([list(names), *shown], right)
    turned = presentation.align_columns(
        list(zip(names, *shown, strict=True)), [False, *[True] * len(shown)]
    )
    for layout in (table, turned):
        if max(map(len, layout.splitlines())) <= _WIDTH:
            return layout
    return '\n'.join(
        presentation.align_columns(list(zip(names, row, strict=True)), [False, False])
        for row in shown
    )


def _format_value(value: object) -> str:
    if value is None:
        return ''
    return (
        f'{value:,.2f}'.removesuffix('.00')
        if isinstance(value, float)
        else escape_controls(str(value))
    )
