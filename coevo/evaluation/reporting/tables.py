"""Tables of reports and comparisons for a terminal.

They are laid out like Tables 3 and 6 to 10 of TestEvo-Bench.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coevo.display import presentation
from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.cells import Cell, make_table, pluralise
from coevo.evaluation.reporting.comparison import Comparison, TrackComparison
from coevo.evaluation.reporting.family_tables import list_family_notes, make_family_tables
from coevo.evaluation.reporting.records import (
    AttemptReport,
    CostReport,
    Report,
    TrackReport,
    TrackSubset,
)
from coevo.model.words import Track

_NAMES = {
    Track.GENERATION: 'Test generation',
    Track.UPDATE: 'Test update',
    Track.EXTENSION: 'Test extension',
    Track.REPAIR: 'Test repair',
}

# The paper's tables of outcomes, coverage and mutation. It has no extension and no repair track.
_PLACES = {
    Track.GENERATION: ('Table 3a', 'Table 6', 'Table 7'),
    Track.UPDATE: ('Table 3b', 'Table 8', 'Table 9'),
    Track.EXTENSION: ('as Table 3a', 'as Table 6', 'as Table 7'),
    Track.REPAIR: ('as Table 3b', 'as Table 8', 'as Table 9'),
}

_TOLD = {
    AttemptProtocol.ONCE: 'each independent of the others',
    AttemptProtocol.FEEDBACK: 'each knows the result of the previous one',
    AttemptProtocol.DIVERSIFY: 'each adds a file',
}

# Titles of columns or rows, and the fields of shares that they show.
_RATES = {
    'Success%': 'success',
    'Redundant%': 'redundant',
    'Weakened%': 'weakened',
    'ExecFail%': 'exec_fail',
    'CmplFail%': 'cmpl_fail',
    'HrnsFail%': 'hrns_fail',
}
_MEASURES = {
    'SuccessStrict%': 'success_strict',
    'Vacuous%': 'vacuous',
    'RelativeKill': 'relative_kill',
    'Reversals': 'reversals_pred',
    'ReversalsHuman': 'reversals_gold',
    'BranchOnPass': 'branch_coverage_pred',
    'BranchOnPassHuman': 'branch_coverage_gold',
    'OraclePreserved%': 'oracle_preserved',
}
_ATTEMPTS = {
    'Solved%': 'solved',
    'Correct%': 'correct',
    'Lines': 'lines',
    'Branches': 'branches',
    'Mutants': 'mutation',
    'Of correct': 'mutation_correct',
    'Unknown': 'unknown',
}


def print_report(report: Report, console: Console) -> None:
    """Print the main figures in five lines, then all tables; figures are above their intervals."""
    harnesses = cells.join_names(system.harness for system in report.systems)
    models = cells.join_names(system.model for system in report.systems)
    console.print(f'harness {harnesses}, model {models}', highlight=False)
    _print_plain(console, _format_headline(report))
    for track in report.tracks:
        _print_part(console, _make_track_tables(track), _list_track_notes(track))
    for family in report.families:
        _print_part(console, make_family_tables(family), list_family_notes(family))
    for attempts in report.attempts:
        note = (
            f'{attempts.of}: tasks with all targets solved by one of k attempts; all other '
            'tables count first attempts only'
        )
        _print_part(console, [_make_solved_within_k_table(attempts)], [note])
    _print_plain(
        console,
        f'Intervals: 95 %, bootstrapped over repositories ({report.intervals.resamples} '
        f'resamples). Snapshot {report.snapshot_sha256[:16]}, predictions '
        f'{report.predictions_sha256[:16]}.',
        end='\n',
    )


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print a table for each track; figures are above their 95 % intervals."""
    for track in comparison.tracks:
        console.print(_make_comparison_table(track))
        if track.left_out:
            console.print(
                f'{pluralise(track.left_out, "method")} could not be graded in both '
                'evaluations, since coevo itself failed; they count nowhere',
                highlight=False,
            )
        console.print()
    first, second = (' and '.join(map(str, versions)) for versions in comparison.engines)
    if first != second:
        console.print(
            f'A was graded by engine {first}, B by engine {second}, which may cause some '
            'differences; evaluate both with the same version of coevo',
            highlight=False,
        )


def _print_part(console: Console, tables: Iterable[Table], notes: Iterable[str]) -> None:
    for table in tables:
        console.print(table)
        console.print()
    for note in notes:
        _print_plain(console, note)


def _print_plain(console: Console, text: str, end: str = '\n\n') -> None:
    console.print(text, end=end, markup=False, highlight=False)


# -- main figures ----------------------------------------------------------------------------------


def _format_headline(report: Report) -> str:
    """Return the main figures as a small table: tasks, success, strict, vacuous, interval.

    `askable` says of how many methods strict success could be asked and is known: the rate is of
    these.

    There is a column for each track and for each family of suites. A suite succeeds if every test
    passes; the interval is the 95 % interval of `success`, over repositories. Suites have no strict
    or vacuous figure, since their coverage and kills show that. Code is strict if tests that are not
    shown hold, too. A maintenance task succeeds if
    nothing was missed or done wrongly, even if not all of gold's own tests pass.
    """
    columns: list[tuple[str, ...]] = [
        ('', 'tasks', 'success', 'strict', '  askable', 'vacuous', 'interval')
    ]
    for track in report.tracks:
        shares = (track.macro.success, track.beyond.success_strict, track.beyond.vacuous)
        askable = _format_strict_known_count(track)
        columns.append(_make_headline_column(track.track, track.tasks, shares, askable))
    for family in report.families:
        success = family.maintenance.done if family.maintenance else family.success
        strict = family.implement.strict if family.implement else None
        columns.append(_make_headline_column(family.family, family.tasks, (success, strict, None)))
    right = [False, *[True] * (len(columns) - 1)]
    return presentation.align_columns(list(zip(*columns, strict=True)), right).rstrip('\n')


def _make_headline_column(
    name: str, tasks: int, shares: Sequence[MeanEstimate | None], askable: str = cells.DASH
) -> tuple[str, ...]:
    values = [_split_value_and_interval(cells.format_percent(share)) for share in shares]
    success, strict, vacuous = (value for value, _ in values)
    interval = values[0][1] or cells.DASH
    return str(name), f'{tasks:,}', success, strict, askable, vacuous, interval


def _split_value_and_interval(figure: Text) -> tuple[str, str]:
    value, _, interval = figure.plain.partition('\n')
    return value, interval


# -- tracks ----------------------------------------------------------------------------------------


def _make_track_tables(track: TrackReport) -> Iterator[Table]:
    name = _NAMES[track.track]
    outcomes, coverage, mutation = _PLACES[track.track]
    rates = _map_rate_labels_to_fields(track.track)
    averages = (
        ('tasks', track.macro),
        ('  by module', track.macro_by_module),
        ('methods', track.micro),
        ('  by module', track.micro_by_module),
    )
    yield make_table(
        f'{name} on {pluralise(track.methods, "method")} across '
        f'{pluralise(track.tasks, "task")} ({outcomes})',
        ('mean over',),
        list(rates),
        ((over, *cells.get_fields(shares, rates.values())) for over, shares in averages),
    )
    for title, short, means in (
        (f'coverage of executable lines ({coverage})', 'Cov', track.coverage),
        ('coverage of the whole range, as Eq. 1 is printed', 'RangeCov', track.range_coverage),
        (f'mutants ({mutation})', 'Mut', track.mutation),
    ):
        on_pass = f'{short}OnPass'
        yield make_table(
            f'{name}: {title}',
            (),
            (short, on_pass, f'{on_pass}Human', f'Δ{on_pass}'),
            [(means.wide, means.pred, means.gold, cells.format_delta(means.delta))],
        )
    yield make_table(
        f'{name}: beyond the paper',
        ('figure',),
        ('value', '95 % interval'),
        _list_measure_rows(track),
    )
    if track.costs:
        yield _make_cost_cap_table(name, track.costs)
    if track.half_years:
        yield _make_subset_table(track, 'by half-year (Figure 4)', 'half-year', track.half_years)
    yield _make_subset_table(track, 'by cause', 'cause', track.causes)


def _map_rate_labels_to_fields(track: Track) -> dict[str, str]:
    left_out = {Track.GENERATION: {'weakened'}, Track.EXTENSION: set()}
    without = left_out.get(track, {'redundant', 'weakened'})
    return {name: rate for name, rate in _RATES.items() if rate not in without}


def _list_measure_rows(track: TrackReport) -> Iterator[Sequence[Cell]]:
    """Yield the measures as rows, since as columns they would be wider than a terminal."""
    for name, measure in _MEASURES.items():
        if measure != 'oracle_preserved' or track.track in (Track.UPDATE, Track.EXTENSION):
            share = cells.format_percent(getattr(track.beyond, measure))
            yield name, *_split_value_and_interval(share)
        if measure == 'success_strict':
            yield '  of methods', _format_strict_known_count(track), ''
    number = cells.format_estimate(track.beyond.mutants, '{:.1f}'.format, '{:.1f}'.format)
    yield 'Mutants', *_split_value_and_interval(number)


def _format_strict_known_count(track: TrackReport) -> str:
    """Return of how many methods the strict rate is, such as `12 of 15`; a dash if of none."""
    if track.beyond.success_strict.value is None:
        return cells.DASH
    known = track.beyond.strict_askable - track.beyond.success_strict_unknown
    return f'{known:,} of {track.methods:,}'


def _make_cost_cap_table(name: str, costs: CostReport) -> Table:
    def format_thousands(value: float) -> str:
        """Return a number in thousands."""
        return f'{value / 1000:.1f}k'

    return make_table(
        f'{name}: under a cap on the cost of a task (Table 10)',
        ('Budget',),
        ('% kept', 'Avg Tokens', 'Avg Cost', 'Success%', 'HrnsFail%'),
        (
            (
                f'${capped.cap_usd:g}',
                f'{capped.kept * 100:.1f}%',
                cells.format_estimate(capped.avg_tokens, format_thousands, format_thousands),
                cells.format_estimate(capped.avg_cost_usd, '${:.2f}'.format, '{:.2f}'.format),
                capped.micro.success,
                capped.micro.hrns_fail,
            )
            for capped in costs.caps
        ),
    )


def _make_subset_table(
    track: TrackReport, title: str, name: str, subsets: Sequence[TrackSubset]
) -> Table:
    rates = _map_rate_labels_to_fields(track.track)
    return make_table(
        f'{_NAMES[track.track]}: {title}',
        (name,),
        ('tasks\nmethods', *rates),
        (
            (
                subset.name,
                f'{subset.tasks:,}\n{subset.methods:,}',
                *cells.get_fields(subset.macro, rates.values()),
            )
            for subset in subsets
        ),
    )


def _list_track_notes(track: TrackReport) -> Iterator[str]:
    name = _NAMES[track.track]
    if track.costs and track.costs.tasks_without_cost:
        yield (
            f'{name}: {pluralise(track.costs.tasks_without_cost, "task")} of unknown cost '
            'count as above every cost cap'
        )
    if track.pit:
        pred, gold = map(cells.format_plain_percent, (track.pit.pred, track.pit.gold))
        yield (
            f'{name}: according to PIT, which decides no outcome, {pred} of its mutants in '
            f'changed methods are killed, by gold {gold} (over '
            f'{pluralise(track.pit.pred.units, "method")})'
        )
    if track.beyond.success_strict_unknown:
        unknown = pluralise(track.beyond.success_strict_unknown, 'method')
        yield (
            f'{name}: whether {unknown} of which strict success can be asked have it is unknown; '
            'they count as neither'
        )
    if track.infra_methods:
        yield (
            f'{name}: {pluralise(track.infra_methods, "method")} of '
            f'{pluralise(track.infra_tasks, "task")} could not be graded, since coevo itself '
            'failed; they count nowhere. Evaluate again to retry'
        )


def _make_comparison_table(track: TrackComparison) -> Table:
    return make_table(
        f'{_NAMES[track.track]} on {pluralise(track.methods, "method")} across '
        f'{pluralise(track.tasks, "task")}',
        ('',),
        ('A', 'B', 'B - A', 'units', 'repositories'),
        (
            (
                figure.name,
                figure.first,
                figure.second,
                cells.format_delta(figure.difference),
                f'{figure.difference.units:,}',
                f'{figure.difference.repositories:,}',
            )
            for figure in track.figures
        ),
    )


# -- several attempts ------------------------------------------------------------------------------


def _make_solved_within_k_table(report: AttemptReport) -> Table:
    return make_table(
        f'{report.of}: up to {report.attempts} attempts at {pluralise(report.tasks, "task")}, '
        f'{_TOLD[report.protocol]}',
        ('k',),
        list(_ATTEMPTS),
        ((figures.k, *cells.get_fields(figures, _ATTEMPTS.values())) for figures in report.at),
    )
