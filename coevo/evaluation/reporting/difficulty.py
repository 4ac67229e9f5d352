"""`coevo report difficulty SNAPSHOT RESULTS`: success by complexity and by length of a task's code.

As in ULT's figure 1. The results say how each task ended, the snapshot how complex and how long
its code is: for suites the focus (its lines that hold code), for tests of a change the production
functions that the change touches (`pairs.complexity`, `pairs.function_lines`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.cells import make_table
from coevo.evaluation.reporting.figures import (
    Rows,
    Suites,
    collect_figures,
    fill_record,
    open_results,
    run_script,
)
from coevo.evaluation.results import load_results, load_suites
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

_TASKS = """
SELECT
    task_id,
    any_value(coalesce(tasks.complexity, changed.complexity)) AS complexity,
    any_value(coalesce(gold_adequacy.lines, changed.function_lines)) AS lines
FROM tasks
LEFT JOIN (
    SELECT pair_id, walk, complexity, function_lines FROM pairs
) AS changed ON changed.pair_id = tasks.pair_id AND changed.walk = tasks.walk
    AND tasks.walk <> 'single_revision'
GROUP BY task_id
ORDER BY task_id"""


class Band(StrEnum):
    """A range of cyclomatic complexity or of lines, in the order in which reports have them."""

    SIMPLE = '1 to 9'
    BRANCHED = '10 to 19'
    COMPLEX = '20 to 29'
    MOST_COMPLEX = '30 and more'
    SHORT = 'fewer than 25'
    MEDIUM = '25 to 49'
    LONG = '50 to 99'
    LONGEST = '100 and more'


@dataclass(frozen=True, slots=True, kw_only=True)
class BandFigures:
    """The figures of tasks whose code is in a band.

    success                         of tests of a change, the mean over tasks of the share of
                                    targets that succeed; of suites, those whose tests all pass
    line_coverage, branch_coverage  shares of the focus that passing tests reach, 0 without one; no
                                    value for tests of a change
    """

    band: Band
    tasks: int
    success: MeanEstimate
    line_coverage: MeanEstimate
    branch_coverage: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFigures:
    """The figures of a track, or of a family of suites; bands without a task are absent.

    complexity_unknown, lines_unknown  graded tasks that are in no band
    """

    part: str
    complexity: tuple[BandFigures, ...]
    lines: tuple[BandFigures, ...]
    complexity_unknown: int
    lines_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyReport:
    """The figures of all tracks and families with a graded task, sorted by name."""

    parts: tuple[PartFigures, ...]


def report_difficulty(place: Path | str, results: Path) -> DifficultyReport:
    """Return the figures of the first attempts of a folder of results.

    Raises: Fatal if the folder has no results, or if the snapshot lacks one of their tasks.
    """
    rows, suites = load_results(results), load_suites(results)
    tasks = read_task_difficulties(place)
    attempted = {row.task_id for row in rows} | {suite.task_id for suite in suites}
    missing = attempted - set(tasks['task_id'].to_pylist())
    if missing:
        raise Fatal(
            f'{place} lacks {len(missing)} of the tasks of {results}, such as {min(missing)}; '
            'name the snapshot that was evaluated'
        )
    return compute_difficulty(tasks, rows, suites)


def read_task_difficulties(place: Path | str) -> pa.Table:
    """Return the `task_id`, `complexity` and `lines` of each task of a snapshot."""
    with snapshot.translate_read_errors((place,)):
        return snapshot.open_snapshots(place).sql(_TASKS).to_arrow_table()


def compute_difficulty(tasks: pa.Table, rows: Rows, suites: Suites = ()) -> DifficultyReport:
    """Return the figures of rows whose tasks are in the table `tasks`."""
    with open_results([], [rows], suites) as connection:
        connection.register('task_difficulties', tasks)
        run_script(connection, 'difficulty')
        return fill_record(DifficultyReport, collect_figures(connection, ['difficulty']))


def print_difficulty(report: DifficultyReport, console: Console) -> None:
    """Print a table for each track or family and measure; shares are above their intervals."""
    for part in report.parts:
        for title, bands, unknown in (
            ('cyclomatic complexity', part.complexity, part.complexity_unknown),
            ('lines of code', part.lines, part.lines_unknown),
        ):
            if bands:
                heading = f'{part.part}, by {title} (ULT, Figure 1)'
                columns = ('Tasks', 'Success%', 'Lines', 'Branches')
                console.print(make_table(heading, [title], columns, _list_band_rows(bands)))
                console.print()
            if unknown:
                note = f'{part.part}: {title} unknown of {unknown} tasks'
                console.print(note, end='\n\n', markup=False, highlight=False)


def _list_band_rows(bands: Sequence[BandFigures]) -> Iterator[Iterable[str | int | MeanEstimate]]:
    for each in bands:
        yield each.band, each.tasks, each.success, each.line_coverage, each.branch_coverage
