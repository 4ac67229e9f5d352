"""A report as tables for a terminal, to be read like Tables 3 and 6 to 10 of TestEvo-Bench."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from coevo import presentation
from coevo.evaluation.aggregates import OnPass
from coevo.evaluation.bootstrap import Estimate
from coevo.evaluation.costs import Costs
from coevo.evaluation.rates import Rates
from coevo.evaluation.report import Report
from coevo.evaluation.report import System
from coevo.evaluation.report import TrackReport
from coevo.evaluation.subsets import Subset
from coevo.records import Track

# Where no terminal says how wide it is.
_WIDTH = 160
_DASH = '–'  # noqa: RUF001  # of nothing; a hyphen looks like a minus
_NAMES = {
    Track.GENERATION: 'Test generation',
    Track.UPDATE: 'Test update',
    Track.REPAIR: 'Test repair',
}
# The paper's numbers: of outcomes, coverage and mutation; it has no repair.
_PLACES = {
    Track.GENERATION: ('Table 3a', 'Table 6', 'Table 7'),
    Track.UPDATE: ('Table 3b', 'Table 8', 'Table 9'),
    Track.REPAIR: ('as Table 3b', 'as Table 8', 'as Table 9'),
}


def open_console() -> Console:
    """As wide as the terminal, or wide enough for a log."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


def show(report: Report, console: Console) -> None:
    """Print all tables; each figure stands over its 95 % interval."""
    system = _system(report.systems)
    for track in report.tracks:
        for table in _tables(track, system):
            console.print(table)
            console.print()
        for note in _notes(track):
            console.print(note, end='\n\n', markup=False, highlight=False)
    console.print(
        f'Intervals: 95 %, bootstrapped over repositories ({report.intervals.resamples} '
        f'resamples). Snapshot {report.snapshot_sha256[:16]}, predictions '
        f'{report.predictions_sha256[:16]}.',
        markup=False,
        highlight=False,
    )


def percent(estimate: Estimate | None) -> Text:
    return _cell(estimate, lambda value: f'{value * 100:.1f}%', lambda value: f'{value * 100:.1f}')


def delta(estimate: Estimate) -> Text:
    """Signed, in points, with three decimals like the paper's."""
    return _cell(
        estimate, lambda value: f'{value * 100:+.3f}%', lambda value: f'{value * 100:+.1f}'
    )


def _tables(track: TrackReport, system: Sequence[str]) -> Iterator[Table]:
    yield _outcomes(track, system)
    places = _PLACES[track.track]
    yield _on_pass(f'{_NAMES[track.track]}: coverage ({places[1]})', 'Cov', track.coverage, system)
    yield _on_pass(f'{_NAMES[track.track]}: mutants ({places[2]})', 'Mut', track.mutation, system)
    yield _beyond(track)
    if track.costs:
        yield _costs(track, track.costs, system)
    if track.half_years:
        yield _subsets(track, 'by half-year (Figure 4)', 'half-year', track.half_years)
    yield _subsets(track, 'by cause', 'cause', track.causes)


def _notes(track: TrackReport) -> Iterator[str]:
    name = _NAMES[track.track]
    if track.costs and track.costs.tasks_without_cost:
        yield (
            f'{name}: {_plural(track.costs.tasks_without_cost, "task")} of unknown cost count as '
            'above every cap'
        )
    if track.infra_methods:
        yield (
            f'{name}: {_plural(track.infra_methods, "method")} of '
            f'{_plural(track.infra_tasks, "task")} could not be judged for trouble of ours and '
            'count nowhere; evaluate again to try once more'
        )


def _outcomes(track: TrackReport, system: Sequence[str]) -> Table:
    table = _table(
        f'{_NAMES[track.track]} on {_plural(track.methods, "method")} across '
        f'{_plural(track.tasks, "task")} ({_PLACES[track.track][0]}; last rows over methods)',
        ('Harness', 'Model', 'Mean over', 'Verdict of'),
        (*_rate_names(track.track), 'CovOnPass', 'MutOnPass'),
    )
    adequacy = (percent(track.coverage.pred), percent(track.mutation.pred))
    unsaid = (Text(''), Text(''))
    for over, verdict, rates, more in (
        ('tasks', 'method', track.macro, adequacy),
        ('tasks', 'module', track.macro_by_module, unsaid),
        ('methods', 'method', track.micro, unsaid),
        ('methods', 'module', track.micro_by_module, unsaid),
    ):
        table.add_row(*system, over, verdict, *_rates(track.track, rates), *more)
    return table


def _on_pass(title: str, name: str, figures: OnPass, system: Sequence[str]) -> Table:
    on_pass = f'{name}OnPass'
    table = _table(title, ('Harness', 'Model'), (name, on_pass, f'{on_pass}Human', f'Δ{on_pass}'))
    shares = (figures.wide, figures.pred, figures.gold)
    table.add_row(*system, *map(percent, shares), delta(figures.delta))
    return table


def _beyond(track: TrackReport) -> Table:
    found = track.beyond
    table = _table(
        f'{_NAMES[track.track]}: beyond the paper',
        (),
        ('StrictSuccess%', 'Vacuous%', 'RelativeKill', 'Reversals', 'ReversalsHuman'),
    )
    cells = [found.success_strict, found.vacuous, found.relative_kill]
    cells += [found.reversals_pred, found.reversals_gold]
    for name, estimate in (
        ('BranchOnPass', found.branch_coverage_pred),
        ('BranchOnPassHuman', found.branch_coverage_gold),
        ('OraclePreserved%', found.oracle_preserved),
    ):
        if estimate.units:
            table.add_column(name, justify='right')
            cells.append(estimate)
    table.add_column('Mutants', justify='right')
    table.add_row(*map(percent, cells), _cell(found.mutants, '{:.1f}'.format, '{:.1f}'.format))
    return table


def _costs(track: TrackReport, costs: Costs, system: Sequence[str]) -> Table:
    table = _table(
        f'{_NAMES[track.track]}: under a cap on the cost of a task (Table 10)',
        ('Harness', 'Model', 'Budget'),
        ('% kept', 'Avg Tokens', 'Avg Cost', 'Success%', 'HrnsFail%'),
    )
    for capped in costs.caps:
        table.add_row(
            *system,
            f'${capped.cap_usd:g}',
            f'{capped.kept * 100:.1f}%',
            _cell(capped.avg_tokens, _thousands, _thousands),
            _cell(capped.avg_cost_usd, '${:.2f}'.format, '{:.2f}'.format),
            percent(capped.micro.success),
            percent(capped.micro.hrns_fail),
        )
    return table


def _subsets(track: TrackReport, title: str, name: str, subsets: Sequence[Subset]) -> Table:
    table = _table(
        f'{_NAMES[track.track]}: {title}',
        (name,),
        ('tasks', 'methods', *_rate_names(track.track)),
    )
    for subset in subsets:
        sizes = (f'{subset.tasks:,}', f'{subset.methods:,}')
        table.add_row(subset.name, *sizes, *_rates(track.track, subset.macro))
    return table


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=Text(title), title_justify='left')
    for name in left:
        table.add_column(name)
    for name in right:
        table.add_column(name, justify='right')
    return table


def _rate_names(track: Track) -> Sequence[str]:
    redundant = ('Redundant%',) if track is Track.GENERATION else ()
    return ('Success%', *redundant, 'ExecFail%', 'CmplFail%', 'HrnsFail%')


def _rates(track: Track, rates: Rates) -> Iterator[Text]:
    yield percent(rates.success)
    if track is Track.GENERATION:
        yield percent(rates.redundant)
    yield from map(percent, (rates.exec_fail, rates.cmpl_fail, rates.hrns_fail))


def _cell(
    estimate: Estimate | None, main: Callable[[float], str], end: Callable[[float], str]
) -> Text:
    if estimate is None or estimate.value is None:
        return Text(_DASH)
    text = Text(main(estimate.value))
    if estimate.low is not None and estimate.high is not None:
        text.append(f'\n{end(estimate.low)} to {end(estimate.high)}', style='dim')
    return text


def _thousands(number: float) -> str:
    return f'{number / 1000:.1f}k'


def _system(systems: Sequence[System]) -> Sequence[str]:
    """Names are those of strangers: they steer no terminal."""
    return _joined(one.harness for one in systems), _joined(one.model for one in systems)


def _joined(names: Iterable[str | None]) -> str:
    known = sorted({presentation.visible(name) for name in names if name})
    return escape(', '.join(known)) or _DASH


def _plural(number: int, word: str) -> str:
    return f'{number:,} {word}{"" if number == 1 else "s"}'
