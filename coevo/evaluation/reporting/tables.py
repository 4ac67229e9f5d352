"""A report as tables for a terminal, to be read like Tables 3 and 6 to 10 of TestEvo-Bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.reporting import cells, headline
from coevo.evaluation.reporting.aggregates import OnPassMeans
from coevo.evaluation.reporting.attempts import AttemptReport
from coevo.evaluation.reporting.costs import CostReport
from coevo.evaluation.reporting.families import FamilyReport, SuiteMeasure
from coevo.evaluation.reporting.maintenance import MaintenanceReport
from coevo.evaluation.reporting.rates import OutcomeRates
from coevo.evaluation.reporting.report import Report, SystemSummary, TrackReport
from coevo.evaluation.reporting.subsets import TrackSubset
from coevo.model.words import Track

# The paper's numbers: of outcomes, coverage and mutation; it has no repair.
_PLACES = {
    Track.GENERATION: ('Table 3a', 'Table 6', 'Table 7'),
    Track.UPDATE: ('Table 3b', 'Table 8', 'Table 9'),
    Track.REPAIR: ('as Table 3b', 'as Table 8', 'as Table 9'),
}


def print_report(report: Report, console: Console) -> None:
    """Print what decides in five lines, then all tables; each figure stands over its 95 % interval."""
    console.print(_describe_systems(report.systems), highlight=False)
    console.print(headline.format_headline(report), end='\n\n', markup=False, highlight=False)
    for track in report.tracks:
        for table in _make_tables(track):
            console.print(table)
            console.print()
        for note in _list_notes(track):
            console.print(note, end='\n\n', markup=False, highlight=False)
    for family in report.families:
        for table in make_family_tables(family):
            console.print(table)
            console.print()
        for note in list_family_notes(family):
            console.print(note, end='\n\n', markup=False, highlight=False)
    for attempts in report.attempts:
        console.print(make_attempt_table(attempts))
        console.print()
        for note in list_attempt_notes(attempts):
            console.print(note, end='\n\n', markup=False, highlight=False)
    console.print(
        f'Intervals: 95 %, bootstrapped over repositories ({report.intervals.resamples} '
        f'resamples). Snapshot {report.snapshot_sha256[:16]}, predictions '
        f'{report.predictions_sha256[:16]}.',
        markup=False,
        highlight=False,
    )


def _make_tables(track: TrackReport) -> Iterator[Table]:
    name = cells.NAMES[track.track]
    _, coverage, mutation = _PLACES[track.track]
    yield _make_outcome_table(track)
    yield _make_on_pass_table(
        f'{name}: coverage of the whole range ({coverage})', 'Cov', track.coverage
    )
    yield _make_on_pass_table(
        f'{name}: coverage of lines that have code', 'CodeCov', track.code_coverage
    )
    yield _make_on_pass_table(f'{name}: mutants ({mutation})', 'Mut', track.mutation)
    yield _make_extra_table(track)
    if track.costs:
        yield _make_cost_table(track, track.costs)
    if track.half_years:
        yield _make_subset_table(track, 'by half-year (Figure 4)', 'half-year', track.half_years)
    yield _make_subset_table(track, 'by cause', 'cause', track.causes)


def _list_notes(track: TrackReport) -> Iterator[str]:
    name = cells.NAMES[track.track]
    if track.costs and track.costs.tasks_without_cost:
        yield (
            f'{name}: {cells.pluralise(track.costs.tasks_without_cost, "task")} of unknown cost count as '
            'above every cap'
        )
    if track.pit:
        pred, gold = (
            cells.format_plain_percent(track.pit.pred),
            cells.format_plain_percent(track.pit.gold),
        )
        yield (
            f"{name}: by PIT's word, which decides nothing, {pred} of its mutants in changed methods "
            f'are killed, by gold {gold} (over {cells.pluralise(track.pit.pred.units, "method")})'
        )
    if track.infra_methods:
        yield (
            f'{name}: {cells.pluralise(track.infra_methods, "method")} of '
            f'{cells.pluralise(track.infra_tasks, "task")} could not be judged for trouble of ours and '
            'count nowhere; evaluate again to try once more'
        )


def _make_outcome_table(track: TrackReport) -> Table:
    table = cells.make_table(
        f'{cells.NAMES[track.track]} on {cells.pluralise(track.methods, "method")} across '
        f'{cells.pluralise(track.tasks, "task")} ({_PLACES[track.track][0]})',
        ('mean over',),
        _list_rate_names(track.track),
    )
    for over, rates in (
        ('tasks', track.macro),
        ('  by module', track.macro_by_module),
        ('methods', track.micro),
        ('  by module', track.micro_by_module),
    ):
        table.add_row(over, *_format_rates(track.track, rates))
    return table


def _make_on_pass_table(title: str, name: str, figures: OnPassMeans) -> Table:
    on_pass = f'{name}OnPass'
    table = cells.make_table(title, (), (name, on_pass, f'{on_pass}Human', f'Δ{on_pass}'))
    shares = (figures.wide, figures.pred, figures.gold)
    table.add_row(*map(cells.format_percent, shares), cells.format_delta(figures.delta))
    return table


def _make_extra_table(track: TrackReport) -> Table:
    """One below the other: side by side they would be wider than a terminal."""
    measures = track.beyond
    shares = {
        'SuccessStrict%': measures.success_strict,
        'Vacuous%': measures.vacuous,
        'RelativeKill': measures.relative_kill,
        'Reversals': measures.reversals_pred,
        'ReversalsHuman': measures.reversals_gold,
        'BranchOnPass': measures.branch_coverage_pred,
        'BranchOnPassHuman': measures.branch_coverage_gold,
    }
    if track.track is Track.UPDATE:
        shares['OraclePreserved%'] = measures.oracle_preserved
    table = cells.make_table(
        f'{cells.NAMES[track.track]}: beyond the paper', ('figure',), ('value', '95 % interval')
    )
    for name, estimate in shares.items():
        table.add_row(name, *_split_interval(cells.format_percent(estimate)))
    table.add_row('Mutants', *_split_interval(cells.format_number(measures.mutants)))
    return table


def _split_interval(figure: Text) -> tuple[str, str]:
    value, _, interval = figure.plain.partition('\n')
    return value, interval


def _make_cost_table(track: TrackReport, costs: CostReport) -> Table:
    table = cells.make_table(
        f'{cells.NAMES[track.track]}: under a cap on the cost of a task (Table 10)',
        ('Budget',),
        ('% kept', 'Avg Tokens', 'Avg Cost', 'Success%', 'HrnsFail%'),
    )
    for capped in costs.caps:
        table.add_row(
            f'${capped.cap_usd:g}',
            f'{capped.kept * 100:.1f}%',
            cells.format_thousands(capped.avg_tokens),
            cells.format_dollars(capped.avg_cost_usd),
            cells.format_percent(capped.micro.success),
            cells.format_percent(capped.micro.hrns_fail),
        )
    return table


def _make_subset_table(
    track: TrackReport, title: str, name: str, subsets: Sequence[TrackSubset]
) -> Table:
    table = cells.make_table(
        f'{cells.NAMES[track.track]}: {title}',
        (name,),
        ('tasks\nmethods', *_list_rate_names(track.track)),
    )
    for subset in subsets:
        sizes = f'{subset.tasks:,}\n{subset.methods:,}'
        table.add_row(subset.name, sizes, *_format_rates(track.track, subset.macro))
    return table


def _list_rate_names(track: Track) -> Sequence[str]:
    redundant = ('Redundant%',) if track is Track.GENERATION else ()
    return ('Success%', *redundant, 'ExecFail%', 'CmplFail%', 'HrnsFail%')


def _format_rates(track: Track, rates: OutcomeRates) -> Iterator[Text]:
    yield cells.format_percent(rates.success)
    if track is Track.GENERATION:
        yield cells.format_percent(rates.redundant)
    yield from map(cells.format_percent, (rates.exec_fail, rates.cmpl_fail, rates.hrns_fail))


def _describe_systems(systems: Sequence[SystemSummary]) -> str:
    harnesses = cells.join_names(system.harness for system in systems)
    models = cells.join_names(system.model for system in systems)
    return f'harness {harnesses}, model {models}'


# The figures of several attempts as tables for a terminal.

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


# The figures of suites as tables for a terminal.


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
