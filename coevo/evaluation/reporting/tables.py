"""A report as tables for a terminal, to be read like Tables 3 and 6 to 10 of TestEvo-Bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coevo.evaluation.reporting import cells, headline
from coevo.evaluation.reporting.aggregates import OnPassMeans
from coevo.evaluation.reporting.attempt_tables import list_attempt_notes, make_attempt_table
from coevo.evaluation.reporting.costs import CostReport
from coevo.evaluation.reporting.family_tables import list_family_notes, make_family_tables
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
