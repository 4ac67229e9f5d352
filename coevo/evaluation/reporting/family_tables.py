"""The figures of suites as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.families import FamilyReport
from coevo.evaluation.reporting.families import SuiteMeasure


def family_tables(report: FamilyReport) -> Iterator[Table]:
    """Outcomes, then each measure over all suites and over those that ran, with both numbers."""
    suites = cells.plural(report.tasks, 'suite')
    outcomes = cells.table(
        f'Family {report.family}: {suites} of {report.repositories} repositories',
        (),
        ('Success%', 'Ran%', 'Builds%', 'Passing%', *report.outcomes),
    )
    shares = (report.success, report.ran, report.builds, report.passing)
    counts = (Text(str(count)) for count in report.outcomes.values())
    outcomes.add_row(*map(cells.percent, shares), *counts)
    yield outcomes
    measures = cells.table(
        f'Family {report.family}: what suites are worth on the focus',
        ('Measure',),
        ('Over all', 'N', 'Over those that ran', 'N ran', 'Start', 'Gold', 'Unknown'),
    )
    for name, measure in (
        ('Lines', report.lines),
        ('Branches', report.branches),
        ('Methods', report.methods),
        ('Mutants', report.mutation),
    ):
        measures.add_row(name, *_cells(measure))
    yield measures


def _cells(measure: SuiteMeasure) -> Iterator[Text]:
    yield cells.percent(measure.over_all)
    yield Text(str(measure.over_all.units))
    yield cells.percent(measure.over_ran)
    yield Text(str(measure.over_ran.units))
    yield cells.percent(measure.start)
    yield cells.percent(measure.gold)
    yield Text(str(measure.unknown))


def family_notes(report: FamilyReport) -> Iterator[str]:
    if report.infra:
        yield (
            f'Family {report.family}: {cells.plural(report.infra, "suite")} could not be judged for trouble '
            'of ours and count nowhere; evaluate again to try once more'
        )
