"""A report as tables for a terminal, to be read like Tables 3 and 6 to 10 of TestEvo-Bench."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting import headline
from coevo.evaluation.reporting.aggregates import OnPass
from coevo.evaluation.reporting.attempt_tables import attempt_notes
from coevo.evaluation.reporting.attempt_tables import attempt_table
from coevo.evaluation.reporting.costs import Costs
from coevo.evaluation.reporting.family_tables import family_notes
from coevo.evaluation.reporting.family_tables import family_tables
from coevo.evaluation.reporting.rates import Rates
from coevo.evaluation.reporting.report import Report
from coevo.evaluation.reporting.report import System
from coevo.evaluation.reporting.report import TrackReport
from coevo.evaluation.reporting.subsets import Subset
from coevo.model.words import Track

# The paper's numbers: of outcomes, coverage and mutation; it has no repair.
_PLACES = {
    Track.GENERATION: ('Table 3a', 'Table 6', 'Table 7'),
    Track.UPDATE: ('Table 3b', 'Table 8', 'Table 9'),
    Track.REPAIR: ('as Table 3b', 'as Table 8', 'as Table 9'),
}


def show(report: Report, console: Console) -> None:
    """Print what decides in five lines, then all tables; each figure stands over its 95 % interval."""
    console.print(_systems(report.systems), highlight=False)
    console.print(headline.headline(report), end='\n\n', markup=False, highlight=False)
    for track in report.tracks:
        for table in _tables(track):
            console.print(table)
            console.print()
        for note in _notes(track):
            console.print(note, end='\n\n', markup=False, highlight=False)
    for family in report.families:
        for table in family_tables(family):
            console.print(table)
            console.print()
        for note in family_notes(family):
            console.print(note, end='\n\n', markup=False, highlight=False)
    for attempts in report.attempts:
        console.print(attempt_table(attempts))
        console.print()
        for note in attempt_notes(attempts):
            console.print(note, end='\n\n', markup=False, highlight=False)
    console.print(
        f'Intervals: 95 %, bootstrapped over repositories ({report.intervals.resamples} '
        f'resamples). Snapshot {report.snapshot_sha256[:16]}, predictions '
        f'{report.predictions_sha256[:16]}.',
        markup=False,
        highlight=False,
    )


def _tables(track: TrackReport) -> Iterator[Table]:
    name = cells.NAMES[track.track]
    _, coverage, mutation = _PLACES[track.track]
    yield _outcomes(track)
    yield _on_pass(f'{name}: coverage of the whole range ({coverage})', 'Cov', track.coverage)
    yield _on_pass(f'{name}: coverage of lines that have code', 'CodeCov', track.code_coverage)
    yield _on_pass(f'{name}: mutants ({mutation})', 'Mut', track.mutation)
    yield _beyond(track)
    if track.costs:
        yield _costs(track, track.costs)
    if track.half_years:
        yield _subsets(track, 'by half-year (Figure 4)', 'half-year', track.half_years)
    yield _subsets(track, 'by cause', 'cause', track.causes)


def _notes(track: TrackReport) -> Iterator[str]:
    name = cells.NAMES[track.track]
    if track.costs and track.costs.tasks_without_cost:
        yield (
            f'{name}: {cells.plural(track.costs.tasks_without_cost, "task")} of unknown cost count as '
            'above every cap'
        )
    if track.pit:
        pred, gold = cells.plain_percent(track.pit.pred), cells.plain_percent(track.pit.gold)
        yield (
            f"{name}: by PIT's word, which decides nothing, {pred} of its mutants in changed methods "
            f'are killed, by gold {gold} (over {cells.plural(track.pit.pred.units, "method")})'
        )
    if track.infra_methods:
        yield (
            f'{name}: {cells.plural(track.infra_methods, "method")} of '
            f'{cells.plural(track.infra_tasks, "task")} could not be judged for trouble of ours and '
            'count nowhere; evaluate again to try once more'
        )


def _outcomes(track: TrackReport) -> Table:
    table = cells.table(
        f'{cells.NAMES[track.track]} on {cells.plural(track.methods, "method")} across '
        f'{cells.plural(track.tasks, "task")} ({_PLACES[track.track][0]})',
        ('mean over',),
        _rate_names(track.track),
    )
    for over, rates in (
        ('tasks', track.macro),
        ('  by module', track.macro_by_module),
        ('methods', track.micro),
        ('  by module', track.micro_by_module),
    ):
        table.add_row(over, *_rates(track.track, rates))
    return table


def _on_pass(title: str, name: str, figures: OnPass) -> Table:
    on_pass = f'{name}OnPass'
    table = cells.table(title, (), (name, on_pass, f'{on_pass}Human', f'Δ{on_pass}'))
    shares = (figures.wide, figures.pred, figures.gold)
    table.add_row(*map(cells.percent, shares), cells.delta(figures.delta))
    return table


def _beyond(track: TrackReport) -> Table:
    """One below the other: side by side they would be wider than a terminal."""
    found = track.beyond
    shares = {
        'SuccessStrict%': found.success_strict,
        'Vacuous%': found.vacuous,
        'RelativeKill': found.relative_kill,
        'Reversals': found.reversals_pred,
        'ReversalsHuman': found.reversals_gold,
        'BranchOnPass': found.branch_coverage_pred,
        'BranchOnPassHuman': found.branch_coverage_gold,
    }
    if track.track is Track.UPDATE:
        shares['OraclePreserved%'] = found.oracle_preserved
    table = cells.table(
        f'{cells.NAMES[track.track]}: beyond the paper', ('figure',), ('value', '95 % interval')
    )
    for name, estimate in shares.items():
        table.add_row(name, *_apart(cells.percent(estimate)))
    table.add_row('Mutants', *_apart(cells.number(found.mutants)))
    return table


def _apart(figure: Text) -> tuple[str, str]:
    value, _, interval = figure.plain.partition('\n')
    return value, interval


def _costs(track: TrackReport, costs: Costs) -> Table:
    table = cells.table(
        f'{cells.NAMES[track.track]}: under a cap on the cost of a task (Table 10)',
        ('Budget',),
        ('% kept', 'Avg Tokens', 'Avg Cost', 'Success%', 'HrnsFail%'),
    )
    for capped in costs.caps:
        table.add_row(
            f'${capped.cap_usd:g}',
            f'{capped.kept * 100:.1f}%',
            cells.thousands(capped.avg_tokens),
            cells.dollars(capped.avg_cost_usd),
            cells.percent(capped.micro.success),
            cells.percent(capped.micro.hrns_fail),
        )
    return table


def _subsets(track: TrackReport, title: str, name: str, subsets: Sequence[Subset]) -> Table:
    table = cells.table(
        f'{cells.NAMES[track.track]}: {title}',
        (name,),
        ('tasks\nmethods', *_rate_names(track.track)),
    )
    for subset in subsets:
        sizes = f'{subset.tasks:,}\n{subset.methods:,}'
        table.add_row(subset.name, sizes, *_rates(track.track, subset.macro))
    return table


def _rate_names(track: Track) -> Sequence[str]:
    redundant = ('Redundant%',) if track is Track.GENERATION else ()
    return ('Success%', *redundant, 'ExecFail%', 'CmplFail%', 'HrnsFail%')


def _rates(track: Track, rates: Rates) -> Iterator[Text]:
    yield cells.percent(rates.success)
    if track is Track.GENERATION:
        yield cells.percent(rates.redundant)
    yield from map(cells.percent, (rates.exec_fail, rates.cmpl_fail, rates.hrns_fail))


def _systems(systems: Sequence[System]) -> str:
    harnesses = cells.joined(one.harness for one in systems)
    models = cells.joined(one.model for one in systems)
    return f'harness {harnesses}, model {models}'
