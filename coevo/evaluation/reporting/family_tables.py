"""The figures of suites as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.families import FamilyReport, SuiteMeasure
from coevo.evaluation.reporting.maintenance import MaintenanceReport


def make_family_tables(report: FamilyReport) -> Iterator[Table]:
    """Outcomes, then each measure over all suites and over those that ran, with both numbers."""
    suites = cells.pluralise(report.tasks, 'suite')
    outcomes = cells.make_table(
        f'Family {report.family}: {suites} of {report.repositories} repositories',
        (),
        ('Success%', 'Ran%', 'Builds%', 'Passing%', *report.outcomes),
    )
    shares = (report.success, report.ran, report.builds, report.passing)
    counts = (Text(str(count)) for count in report.outcomes.values())
    outcomes.add_row(*map(cells.format_percent, shares), *counts)
    yield outcomes
    if report.maintenance is not None:
        yield _make_maintenance_table(report, report.maintenance)
        return
    measures = cells.make_table(
        f'Family {report.family}: what suites are worth on the focus',
        ('Measure',),
        ('Over all', 'N', 'Over those that ran', 'N ran', 'Start', 'Gold', 'Gain', 'Unknown'),
    )
    for name, measure in (
        ('Lines', report.lines),
        ('Branches', report.branches),
        ('Methods', report.methods),
        ('Mutants', report.mutation),
    ):
        measures.add_row(name, *_format_cells(measure))
    yield measures
    yield _make_tests_table(report)
    if len(report.starts) > 1:
        yield _make_start_table(report)


def _make_maintenance_table(report: FamilyReport, found: MaintenanceReport) -> Table:
    """What of the tests was missed, and what was done to those that had to stay."""
    table = cells.make_table(
        f'Family {report.family}: what became of each test', ('Rate',), ('Of tests', 'N')
    )
    for name, rate in (
        ('Done, of tasks', found.done),
        ('Missed updates', found.missed_updates),
        ('False edits', found.false_edits),
        ('Harmed', found.harmed),
        ('Wrong deletions', found.wrong_deletions),
        ('Missed deletions', found.missed_deletions),
        ('Additions', found.additions),
    ):
        table.add_row(name, cells.format_percent(rate), Text(str(rate.units)))
    return table


def _make_tests_table(report: FamilyReport) -> Table:
    """What each test of a suite adds, and how many fail together."""
    table = cells.make_table(
        f'Family {report.family}: tests of a suite', ('Share',), ('Of suites', 'N')
    )
    for name, rate in (
        ('Lines that one test alone executes', report.unique_lines),
        ('Failing tests that share their cause', report.cascading),
        ('Passing, of tests that share none', report.passing_alone),
    ):
        table.add_row(name, cells.format_percent(rate), Text(str(rate.units)))
    return table


def _make_start_table(report: FamilyReport) -> Table:
    """How many tasks start in each way, what comes of them, and what suites gain on the start."""
    columns = (
        'Tasks',
        'Success%',
        'Lines: start',
        'Gold',
        'Gain',
        'Mutants: start',
        'Gold',
        'Gain',
    )
    table = cells.make_table(f'Family {report.family}: by start', ('Start',), columns)
    for start_report in report.starts:
        shares = (
            start_report.success,
            *(start_report.lines.start, start_report.lines.gold, start_report.lines.gain),
            *(start_report.mutation.start, start_report.mutation.gold, start_report.mutation.gain),
        )
        name = (
            f'{start_report.scenario}, {start_report.start_builder}'
            if start_report.scenario
            else str(start_report.start_builder)
        )
        table.add_row(name, Text(str(start_report.tasks)), *map(cells.format_percent, shares))
    return table


def _format_cells(measure: SuiteMeasure) -> Iterator[Text]:
    yield cells.format_percent(measure.over_all)
    yield Text(str(measure.over_all.units))
    yield cells.format_percent(measure.over_ran)
    yield Text(str(measure.over_ran.units))
    yield cells.format_percent(measure.start)
    yield cells.format_percent(measure.gold)
    yield cells.format_percent(measure.gain)
    yield Text(str(measure.unknown))


def list_family_notes(report: FamilyReport) -> Iterator[str]:
    if report.infra:
        yield (
            f'Family {report.family}: {cells.pluralise(report.infra, "suite")} could not be judged for trouble '
            'of ours and count nowhere; evaluate again to try once more'
        )
    if report.maintenance is not None and report.maintenance.unknown:
        yield (
            f'Family {report.family}: of {cells.pluralise(report.maintenance.unknown, "test")} runs here do not '
            'bear out the label; they count nowhere'
        )
