"""`coevo compare A B`: two evaluations of the same tasks, task by task.

A difference is that of B less A, over the methods that were judged (or measured) in both, and its
interval is of the same drawn repositories: much narrower than the two apart would say.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import Key
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import bootstrap
from coevo.evaluation.reporting import scores
from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.evaluation.reporting.bootstrap import estimate
from coevo.evaluation.reporting.rates import Average
from coevo.evaluation.reporting.rates import RateVerdict
from coevo.evaluation.reporting.rates import graded
from coevo.evaluation.reporting.rates import indicator
from coevo.evaluation.reporting.samples import Rows
from coevo.evaluation.reporting.samples import Score
from coevo.evaluation.results import read_results
from coevo.model.errors import Fatal
from coevo.model.words import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of both; `difference` is B less A, and how many units are in all three."""

    name: str
    first: Estimate
    second: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackComparison:
    """`tasks` and `methods` were judged in both, `left_out` methods not, for trouble of ours."""

    track: Track
    tasks: int
    methods: int
    left_out: int
    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`engines` are the versions that judged each of them; others may judge otherwise."""

    snapshot_sha256: str
    engines: tuple[tuple[int, ...], tuple[int, ...]]
    tracks: Sequence[TrackComparison]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairing:
    """Rows of the same methods in the same order, that were judged in both."""

    first: Rows
    second: Rows

    def figure(self, name: str, score: Score, average: Average = Average.MACRO) -> Figure:
        """Over the methods that have the score in both."""
        both = [
            pair
            for pair in zip(self.first, self.second, strict=True)
            if None not in (score(pair[0]), score(pair[1]))
        ]
        first = list(average.samples([one for one, _ in both], score))
        second = list(average.samples([other for _, other in both], score))
        return Figure(
            name=name,
            first=estimate(first),
            second=estimate(second),
            difference=bootstrap.difference(first, second),
        )


def compare_folders(first: Path, second: Path) -> Comparison:
    """Of first attempts; Fatal where the two are not of one snapshot and of the same test methods."""
    one, other = (
        [row for row in read_results(folder) if row.attempt == 1] for folder in (first, second)
    )
    _check(first, one, second, other)
    return compare(one, other)


def compare(first: Rows, second: Rows) -> Comparison:
    """Of rows of the same methods."""
    one, other = _by_key(first), _by_key(second)
    return Comparison(
        snapshot_sha256=first[0].snapshot_sha256,
        engines=(_engines(first), _engines(second)),
        tracks=[
            _track(track, [row for row in one.values() if row.track is track], other)
            for track in Track
            if any(row.track is track for row in first)
        ],
    )


def _check(first: Path, one: Rows, second: Path, other: Rows) -> None:
    snapshots = {row.snapshot_sha256 for row in (*one, *other)}
    if len(snapshots) != 1:
        raise Fatal(
            f'{first} and {second} are of different snapshots ({_shortly(one)} and '
            f'{_shortly(other)}); evaluate both against the same one'
        )
    only = len(_by_key(one).keys() - _by_key(other).keys())
    others = len(_by_key(other).keys() - _by_key(one).keys())
    if only or others:
        raise Fatal(
            f'{first} and {second} are of different tasks ({only} test methods are in the first '
            f'alone, {others} in the second alone); evaluate both with the same --tasks, --after, '
            '--model and --margin'
        )


def _shortly(rows: Rows) -> str:
    return ', '.join(sorted({row.snapshot_sha256[:16] for row in rows})) or 'no rows'


def _by_key(rows: Rows) -> Mapping[Key, MethodResult]:
    return {row.key: row for row in sorted(rows, key=lambda row: row.key)}


def _engines(rows: Rows) -> tuple[int, ...]:
    return tuple(sorted({row.engine_version for row in rows}))


def _track(track: Track, rows: Rows, others: Mapping[Key, MethodResult]) -> TrackComparison:
    beside = [others[row.key] for row in rows]
    pairing = _judged(rows, beside, RateVerdict.METHOD)
    return TrackComparison(
        track=track,
        tasks=len({row.task_id for row in pairing.first}),
        methods=len(pairing.first),
        left_out=len(rows) - len(pairing.first),
        figures=[
            *_outcomes(track, pairing),
            _judged(rows, beside, RateVerdict.MODULE).figure(
                'Success% by module', indicator(TaskOutcome.SUCCESS, RateVerdict.MODULE)
            ),
            *_adequacy(pairing),
        ],
    )


def _judged(rows: Rows, others: Rows, verdict: RateVerdict) -> _Pairing:
    both = [
        pair for pair in zip(rows, others, strict=True) if len(graded(pair, verdict)) == len(pair)
    ]
    return _Pairing(first=[one for one, _ in both], second=[other for _, other in both])


def _outcomes(track: Track, pairing: _Pairing) -> Iterator[Figure]:
    yield pairing.figure('Success%', indicator(TaskOutcome.SUCCESS))
    if track is Track.GENERATION:
        yield pairing.figure('Redundant%', indicator(TaskOutcome.REDUNDANT))
    yield pairing.figure('ExecFail%', indicator(TaskOutcome.EXEC_FAIL))
    yield pairing.figure('CmplFail%', indicator(TaskOutcome.CMPL_FAIL))
    yield pairing.figure('HrnsFail%', indicator(TaskOutcome.HRNS_FAIL))
    yield pairing.figure('Success% of methods', indicator(TaskOutcome.SUCCESS), Average.MICRO)


def _adequacy(pairing: _Pairing) -> Iterator[Figure]:
    yield pairing.figure('SuccessStrict%', _known(pairing, scores.success_strict, _is_success))
    yield pairing.figure('Vacuous%', _known(pairing, scores.vacuous, _passes))
    yield pairing.figure('CovOnPass', scores.coverage_pred)
    yield pairing.figure('MutOnPass', scores.mutation_score_pred)
    yield pairing.figure('RelativeKill', scores.relative_kill)


def _is_success(row: MethodResult) -> bool:
    return row.outcome is TaskOutcome.SUCCESS


def _passes(row: MethodResult) -> bool:
    return row.outcome.passes_on_new


def _known(pairing: _Pairing, score: Score, asked: Callable[[MethodResult], bool]) -> Score:
    """As in a report a share of all methods, in which what is not known counts for nothing.

    Of no method where one side was told of none of those that it could be asked of.
    """
    for side in (pairing.first, pairing.second):
        told = [score(row) for row in side if asked(row)]
        if told and set(told) == {None}:
            return lambda row: None
    return lambda row: score(row) or 0.0
