"""`coevo compare A B`: two evaluations of the same tasks, task by task.

A difference is that of B less A, over the methods that were judged (or measured) in both, and its
interval is of the same drawn repositories: much narrower than the two apart would say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import Key, MethodResult
from coevo.evaluation.reporting import bootstrap, scores
from coevo.evaluation.reporting.bootstrap import MeanEstimate, estimate_mean
from coevo.evaluation.reporting.rates import Average, RateVerdict, filter_graded, make_indicator
from coevo.evaluation.reporting.samples import Rows, Score
from coevo.evaluation.results import load_results
from coevo.model.errors import Fatal
from coevo.model.words import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureComparison:
    """A figure of both; `difference` is B less A, and how many units are in all three."""

    name: str
    first: MeanEstimate
    second: MeanEstimate
    difference: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackComparison:
    """`tasks` and `methods` were judged in both, `left_out` methods not, for trouble of ours."""

    track: Track
    tasks: int
    methods: int
    left_out: int
    figures: Sequence[FigureComparison]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`engines` are the versions that judged each of them; others may judge otherwise."""

    snapshot_sha256: str
    engines: tuple[tuple[str, ...], tuple[str, ...]]
    tracks: Sequence[TrackComparison]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairedRows:
    """Rows of the same methods in the same order, that were judged in both."""

    first: Rows
    second: Rows

    def compare_score(
        self, name: str, score: Score, average: Average = Average.MACRO
    ) -> FigureComparison:
        """Over the methods that have the score in both."""
        both = [
            pair
            for pair in zip(self.first, self.second, strict=True)
            if None not in (score(pair[0]), score(pair[1]))
        ]
        first = list(average.samples([first_row for first_row, _ in both], score))
        second = list(average.samples([other for _, other in both], score))
        return FigureComparison(
            name=name,
            first=estimate_mean(first),
            second=estimate_mean(second),
            difference=bootstrap.estimate_difference(first, second),
        )


def compare_folders(first: Path, second: Path) -> Comparison:
    """Of first attempts; Fatal where the two are not of one snapshot and of the same test methods."""
    first_rows, other = (
        [row for row in load_results(folder) if row.attempt == 1] for folder in (first, second)
    )
    _check_comparable(first, first_rows, second, other)
    return compare_rows(first_rows, other)


def compare_rows(first: Rows, second: Rows) -> Comparison:
    """Of rows of the same methods."""
    first_by_key, other = _index_by_key(first), _index_by_key(second)
    return Comparison(
        snapshot_sha256=first[0].snapshot_sha256,
        engines=(_list_engines(first), _list_engines(second)),
        tracks=[
            _compare_track(
                track, [row for row in first_by_key.values() if row.track is track], other
            )
            for track in Track
            if any(row.track is track for row in first)
        ],
    )


def _check_comparable(first: Path, one: Rows, second: Path, other: Rows) -> None:
    snapshots = {row.snapshot_sha256 for row in (*one, *other)}
    if len(snapshots) != 1:
        raise Fatal(
            f'{first} and {second} are of different snapshots ({_format_snapshots(one)} and '
            f'{_format_snapshots(other)}); evaluate both against the same one'
        )
    only = len(_index_by_key(one).keys() - _index_by_key(other).keys())
    others = len(_index_by_key(other).keys() - _index_by_key(one).keys())
    if only or others:
        raise Fatal(
            f'{first} and {second} are of different tasks ({only} test methods are in the first '
            f'alone, {others} in the second alone); evaluate both with the same --tasks, --after, '
            '--model and --margin'
        )


def _format_snapshots(rows: Rows) -> str:
    return ', '.join(sorted({row.snapshot_sha256[:16] for row in rows})) or 'no rows'


def _index_by_key(rows: Rows) -> Mapping[Key, MethodResult]:
    return {row.key: row for row in sorted(rows, key=lambda row: row.key)}


def _list_engines(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({row.engine_version for row in rows}))


def _compare_track(track: Track, rows: Rows, others: Mapping[Key, MethodResult]) -> TrackComparison:
    beside = [others[row.key] for row in rows]
    pairing = _pair_graded(rows, beside, RateVerdict.METHOD)
    return TrackComparison(
        track=track,
        tasks=len({row.task_id for row in pairing.first}),
        methods=len(pairing.first),
        left_out=len(rows) - len(pairing.first),
        figures=[
            *_compare_outcomes(track, pairing),
            _pair_graded(rows, beside, RateVerdict.MODULE).compare_score(
                'Success% by module', make_indicator(TaskOutcome.SUCCESS, RateVerdict.MODULE)
            ),
            *_compare_adequacy(pairing),
        ],
    )


def _pair_graded(rows: Rows, others: Rows, verdict: RateVerdict) -> _PairedRows:
    both = [
        pair
        for pair in zip(rows, others, strict=True)
        if len(filter_graded(pair, verdict)) == len(pair)
    ]
    return _PairedRows(
        first=[first_row for first_row, _ in both], second=[other for _, other in both]
    )


def _compare_outcomes(track: Track, pairing: _PairedRows) -> Iterator[FigureComparison]:
    yield pairing.compare_score('Success%', make_indicator(TaskOutcome.SUCCESS))
    if track is Track.GENERATION:
        yield pairing.compare_score('Redundant%', make_indicator(TaskOutcome.REDUNDANT))
    yield pairing.compare_score('ExecFail%', make_indicator(TaskOutcome.EXEC_FAIL))
    yield pairing.compare_score('CmplFail%', make_indicator(TaskOutcome.CMPL_FAIL))
    yield pairing.compare_score('HrnsFail%', make_indicator(TaskOutcome.HRNS_FAIL))
    yield pairing.compare_score(
        'Success% of methods', make_indicator(TaskOutcome.SUCCESS), Average.MICRO
    )


def _compare_adequacy(pairing: _PairedRows) -> Iterator[FigureComparison]:
    yield pairing.compare_score(
        'SuccessStrict%', _make_known_score(pairing, scores.score_strict_success, _is_success)
    )
    yield pairing.compare_score(
        'Vacuous%', _make_known_score(pairing, scores.score_vacuous, _passes)
    )
    yield pairing.compare_score('CovOnPass', scores.score_coverage_pred)
    yield pairing.compare_score('MutOnPass', scores.score_mutation_pred)
    yield pairing.compare_score('RelativeKill', scores.score_relative_kill)


def _is_success(row: MethodResult) -> bool:
    return row.outcome is TaskOutcome.SUCCESS


def _passes(row: MethodResult) -> bool:
    return row.outcome.passes_on_new


def _make_known_score(
    pairing: _PairedRows, score: Score, asked: Callable[[MethodResult], bool]
) -> Score:
    """As in a report a share of all methods, in which what is not known counts for nothing.

    Of no method where one side was told of none of those that it could be asked of.
    """
    for side in (pairing.first, pairing.second):
        values = [score(row) for row in side if asked(row)]
        if values and set(values) == {None}:
            return lambda row: None
    return lambda row: score(row) or 0.0
