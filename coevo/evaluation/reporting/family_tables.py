"""Tables of a report for a terminal: the outcomes and measures of one family of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.cells import Cell, get_fields, make_table, pluralise
from coevo.evaluation.reporting.records import FamilyReport, ImplementReport, MaintenanceReport

# Titles of columns or rows, and the fields of shares that they show.
_SUITES = {'Success%': 'success', 'Ran%': 'ran', 'Builds%': 'builds', 'Passing%': 'passing'}
_SUITE_MEASURE = {
    'Over all': 'over_all',
    'N': 'over_all.units',
    'Over suites that ran': 'over_ran',
    'N ran': 'over_ran.units',
    'Start': 'start',
    'Gold': 'gold',
    'Gain': 'gain',
    'Unknown': 'unknown',
}
_ASSERTIONS = {
    'Tests of a suite': 'tests',
    'Assertions of a suite': 'of_suite',
    'Assertions of a test': 'of_test',
    'Assertions of a line': 'of_line',
}
_TESTS = {
    'Lines that only one test executes': 'unique_lines',
    'Failing tests that share their cause': 'cascading',
    'Passing, of tests that share none': 'passing_alone',
}
_MAINTENANCE = {
    'Done, of tasks': 'done',
    'Missed updates': 'missed_updates',
    'False edits': 'false_edits',
    'Harmed': 'harmed',
    'Wrong deletions': 'wrong_deletions',
    'Missed deletions': 'missed_deletions',
    'Additions': 'additions',
}
_IMPLEMENT = {
    'Strict, of tasks with tests that are not shown': 'strict',
    'Overfitted, of those that succeed': 'overfitted',
    'Kept: tests that still pass': 'kept',
    'Siblings: tests of other files': 'siblings',
    'Variants: targets with other literals': 'variants',
}
_STARTS = (
    ('Tasks', 'tasks'),
    ('Success%', 'success'),
    ('Lines: start', 'lines.start'),
    ('Gold', 'lines.gold'),
    ('Gain', 'lines.gain'),
    ('Mutants: start', 'mutation.start'),
    ('Gold', 'mutation.gold'),
    ('Gain', 'mutation.gain'),
)


def make_family_tables(report: FamilyReport) -> Iterator[Table]:
    """Yield a table of outcomes, then those of what the family is graded by beside them."""
    name = f'Family {report.family}:'
    yield make_table(
        f'{name} {pluralise(report.tasks, "task" if report.implement else "suite")} of {report.repositories} repositories',
        (),
        (*_SUITES, *report.outcomes),
        [(*get_fields(report, _SUITES.values()), *report.outcomes.values())],
    )
    if report.maintenance is not None:
        rows = _list_share_rows(report.maintenance, _MAINTENANCE)
        yield make_table(f'{name} what became of each test', ('Rate',), ('Of tests', 'N'), rows)
    elif report.implement is not None:
        rows = _list_share_rows(report.implement, _IMPLEMENT)
        yield make_table(f'{name} beyond the targets', ('Rate',), ('Share', 'N'), rows)
    else:
        yield _make_adequacy_table(name, report)
        rows = _list_share_rows(report, _TESTS)
        yield make_table(f'{name} tests of a suite', ('Share',), ('Of suites', 'N'), rows)
        yield from _make_assertion_and_fix_tables(name, report)
        if len(report.starts) > 1:
            yield _make_table_by_start_kind(name, report)


def _make_adequacy_table(name: str, report: FamilyReport) -> Table:
    """Return the measures over all suites and over those that ran."""
    measures = {
        'Lines': report.lines,
        'Branches': report.branches,
        'Methods': report.methods,
        'Mutants': report.mutation,
    }
    return make_table(
        f'{name} adequacy of suites on the code that they are about',
        ('Measure',),
        list(_SUITE_MEASURE),
        (
            (what, *get_fields(measure, _SUITE_MEASURE.values()))
            for what, measure in measures.items()
        ),
    )


def _make_assertion_and_fix_tables(name: str, report: FamilyReport) -> Iterator[Table]:
    """Yield what the texts of suites have, as far as there is any."""
    density = report.texts.assertions
    if density.tests.units:
        yield make_table(
            f'{name} assertions (TAM-Eval, assert density)',
            ('Mean',),
            ('Value', 'N'),
            (
                (what, _format_number(getattr(density, field)), getattr(density, field).units)
                for what, field in _ASSERTIONS.items()
            ),
        )
    if report.texts.fixes:
        yield make_table(
            f'{name} mechanical fixes (MultiFileTest)',
            ('Rule',),
            ('Fixes',),
            sorted(report.texts.fixes.items()),
        )


def _make_table_by_start_kind(name: str, report: FamilyReport) -> Table:
    return make_table(
        f'{name} by start',
        ('Start',),
        [title for title, _ in _STARTS],
        (
            (
                ', '.join(str(word) for word in (start.scenario, start.start_builder) if word),
                *get_fields(start, (path for _, path in _STARTS)),
            )
            for start in report.starts
        ),
    )


def _format_number(mean: MeanEstimate) -> Cell:
    return cells.format_estimate(mean, '{:.2f}'.format, '{:.2f}'.format)


def _list_share_rows(
    report: FamilyReport | MaintenanceReport | ImplementReport, names: dict[str, str]
) -> Iterator[Sequence[Cell]]:
    for name, field in names.items():
        share = getattr(report, field)
        yield name, share, share.units


def list_family_notes(report: FamilyReport) -> Iterator[str]:
    """Yield sentences about suites or tests that count nowhere."""
    if report.infra:
        yield (
            f'Family {report.family}: {pluralise(report.infra, "suite")} could not be graded, '
            'since coevo itself failed; they count nowhere. Evaluate again to retry'
        )
    if report.maintenance is not None and report.maintenance.unknown:
        yield (
            f'Family {report.family}: of {pluralise(report.maintenance.unknown, "test")} the '
            'runs here contradict the label; they count nowhere'
        )
