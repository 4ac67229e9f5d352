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


def attempt_table(report: AttemptReport) -> Table:
    """A row for each k."""
    columns = ('Solved%', 'Correct%', 'Lines', 'Branches', 'Mutants', 'Of correct', 'Unknown')
    table = cells.table(
        f'{report.of}: up to {report.attempts} attempts at {cells.plural(report.tasks, "task")}, '
        f'{_TOLD[report.protocol]}',
        ('k',),
        columns,
    )
    for one in report.at:
        shares = (
            *(one.solved, one.correct, one.lines),
            *(one.branches, one.mutation, one.mutation_correct),
        )
        table.add_row(str(one.k), *map(cells.percent, shares), Text(str(one.unknown)))
    return table


def attempt_notes(report: AttemptReport) -> Iterator[str]:
    yield (
        f'{report.of}: solved by one of k attempts, with all of its targets; all other tables are of '
        'first attempts'
    )
