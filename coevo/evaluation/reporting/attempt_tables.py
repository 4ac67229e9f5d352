"""The figures of several attempts as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.attempts import AttemptReport

_TOLD = {
    AttemptProtocol.ONCE: 'each by itself',
    AttemptProtocol.FEEDBACK: 'each told what became of the one before',
    AttemptProtocol.DIVERSIFY: 'each adding a file',
}


def make_attempt_table(report: AttemptReport) -> Table:
    """A row for each k."""
    columns = ('Solved%', 'Correct%', 'Lines', 'Branches', 'Mutants', 'Of correct', 'Unknown')
    table = cells.make_table(
        f'{report.of}: up to {report.attempts} attempts at {cells.pluralise(report.tasks, "task")}, '
        f'{_TOLD[report.protocol]}',
        ('k',),
        columns,
    )
    for figures in report.at:
        shares = (
            *(figures.solved, figures.correct, figures.lines),
            *(figures.branches, figures.mutation, figures.mutation_correct),
        )
        table.add_row(
            str(figures.k), *map(cells.format_percent, shares), Text(str(figures.unknown))
        )
    return table


def list_attempt_notes(report: AttemptReport) -> Iterator[str]:
    yield (
        f'{report.of}: solved by one of k attempts, with all of its targets; all other tables are of '
        'first attempts'
    )
