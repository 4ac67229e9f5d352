"""What several attempts at a task come to, for k = 1, 2, …; all else of a report is of first attempts.

A task is solved by an attempt in which every target, or every test of its suite, succeeds. Of attempts that
know nothing of each other, n of which c solve it, the share of draws of k in which one does is
1 - C(n - c, k) / C(n, k) (Chen et al., https://arxiv.org/abs/2107.03374). Of others the first k count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coevo.evaluation.outcomes import AttemptProtocol, Detail, TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import MeanEstimate, Sample, estimate_mean
from coevo.evaluation.reporting.maintenance import solves_task
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.model.families import SuiteAdequacy

Row = TypeVar('Row', MethodResult, SuiteResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFigures:
    """The figures of k attempts, each a mean over tasks.

    solved           tasks that one of k attempts solves
    correct          share of the first k that solve it (ULT calls this Pass@k); of `feedback`, of nothing
    lines, mutation  shares of the focus of a suite: of `feedback`, what the attempt is worth that stands after
                     k of them, which is the first that solves it or else the last; of `diversify`, what the
                     first k are worth together; of `once`, of nothing
    branches         the same, at least: of a line, those that one of k takes may be others than those of another
    mutation_correct the same as `mutation`, of those tasks alone all attempts at which solve them (ULT's script)
    unknown          tasks that are left out of `solved`, as trouble of ours kept attempts from being judged
    """

    k: int
    solved: MeanEstimate
    correct: MeanEstimate
    lines: MeanEstimate
    branches: MeanEstimate
    mutation: MeanEstimate
    mutation_correct: MeanEstimate
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """Of a track, or of a family of suites; `attempts` is how many a task has at most."""

    of: str
    protocol: AttemptProtocol
    attempts: int
    tasks: int
    at: Sequence[AttemptFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """An attempt: whether it solves its task, None for trouble of ours; of a suite, its row."""

    number: int
    solved: bool | None
    missing: bool
    suite: SuiteResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskAttempts:
    """The attempts at a task, in their order."""

    repo: str
    tried: Sequence[AttemptResult]

    def take_first(self, k: int) -> Sequence[AttemptResult]:
        return self.tried[:k]

    @property
    def is_unanswered(self) -> bool:
        return all(attempt.missing for attempt in self.tried)


def make_attempt_reports(
    rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> list[AttemptReport]:
    """One for each track and family that a task of was attempted more than once; none where none was."""
    everything: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    protocol = next((row.protocol for row in everything if row.attempt > 1), None)
    if protocol is None:
        return []
    most = max(row.attempt for row in everything)
    tracks = [
        _make_report(name, protocol, most, list(_group_method_rows(part)))
        for name, part in _group_by_name(rows, lambda row: str(row.track))
        if any(row.attempt > 1 for row in part)
    ]
    families = [
        _make_report(name, protocol, most, list(_group_suite_rows(part)))
        for name, part in _group_by_name(suites, lambda row: str(row.family))
        if any(row.attempt > 1 for row in part)
    ]
    return tracks + families


def compute_pass_at(n: int, c: int, k: int) -> float:
    """The share of draws of k attempts of n, of which c solve a task, in which one does."""
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def _make_report(
    name: str, protocol: AttemptProtocol, most: int, tasks: Sequence[_TaskAttempts]
) -> AttemptReport:
    return AttemptReport(
        of=name,
        protocol=protocol,
        attempts=most,
        tasks=len(tasks),
        at=[_compute_figures(protocol, tasks, k) for k in range(1, most + 1)],
    )


def _compute_figures(
    protocol: AttemptProtocol, tasks: Sequence[_TaskAttempts], k: int
) -> AttemptFigures:
    solved = [(task, _compute_solved_share(protocol, task, k)) for task in tasks]
    return AttemptFigures(
        k=k,
        solved=_estimate_mean(solved),
        correct=_estimate_mean((task, _compute_correct_share(protocol, task, k)) for task in tasks),
        lines=_estimate_mean(
            (task, _measure_usefulness(protocol, task, k, _get_reached_lines)) for task in tasks
        ),
        branches=_estimate_mean(
            (task, _measure_usefulness(protocol, task, k, _get_taken_branches)) for task in tasks
        ),
        mutation=_estimate_mean(
            (task, _measure_usefulness(protocol, task, k, _get_killed_mutants)) for task in tasks
        ),
        mutation_correct=_estimate_mean(
            (task, _measure_usefulness(protocol, task, k, _get_killed_mutants))
            for task in tasks
            if all(attempt.solved for attempt in task.tried)
        ),
        unknown=sum(value is None for _, value in solved),
    )


def _estimate_mean(values: Iterable[tuple[_TaskAttempts, float | None]]) -> MeanEstimate:
    return estimate_mean(
        Sample(repo=task.repo, value=value) for task, value in values if value is not None
    )


def _compute_solved_share(protocol: AttemptProtocol, task: _TaskAttempts, k: int) -> float | None:
    if task.is_unanswered:
        return 0.0
    if protocol is AttemptProtocol.ONCE:
        judged = [attempt for attempt in task.tried if attempt.solved is not None]
        solving = sum(bool(attempt.solved) for attempt in judged)
        return compute_pass_at(len(judged), solving, k) if k <= len(judged) else None
    outcomes = [attempt.solved for attempt in task.take_first(k)]
    if True in outcomes:
        return 1.0
    return None if None in outcomes else 0.0


def _compute_correct_share(protocol: AttemptProtocol, task: _TaskAttempts, k: int) -> float | None:
    if protocol is AttemptProtocol.FEEDBACK:
        return None
    first = [attempt for attempt in task.take_first(k) if attempt.solved is not None]
    return sum(bool(attempt.solved) for attempt in first) / len(first) if first else None


# -- what suites are worth -------------------------------------------------------------------------

_Counted = tuple[frozenset[str] | None, int | None]
_Reach = Callable[[SuiteResult], _Counted]


def _get_reached_lines(row: SuiteResult) -> _Counted:
    """Of gold's lines with code, those that a suite executes."""
    reached = None if row.reach is None or row.reach.lines is None else frozenset(row.reach.lines)
    return reached, _get_gold_count(row.gold_adequacy, 'lines')


def _get_taken_branches(row: SuiteResult) -> _Counted:
    taken = (
        None if row.reach is None or row.reach.branches is None else frozenset(row.reach.branches)
    )
    return taken, _get_gold_count(row.gold_adequacy, 'branches')


def _get_killed_mutants(row: SuiteResult) -> _Counted:
    killed = None if row.reach is None or row.reach.killed is None else frozenset(row.reach.killed)
    return killed, _get_gold_count(row.gold_adequacy, 'mutants')


def _get_gold_count(adequacy: SuiteAdequacy | None, name: str) -> int | None:
    count: int | None = None if adequacy is None else getattr(adequacy, name)
    return count or None


def _measure_usefulness(
    protocol: AttemptProtocol, task: _TaskAttempts, k: int, reach: _Reach
) -> float | None:
    """None where it is not known of one of those that count."""
    if protocol is AttemptProtocol.ONCE:
        return None
    counted = (
        task.take_first(k)
        if protocol is AttemptProtocol.DIVERSIFY
        else [_choose_final_attempt(task, k)]
    )
    joined: set[str] = set()
    whole: int | None = None
    for attempt in counted:
        if attempt.suite is None or attempt.solved is None:
            return None
        reached, count = reach(attempt.suite)
        if any(test.passes for test in attempt.suite.tests):
            if reached is None:
                return None
            joined |= reached
        whole = whole or count
    return None if whole is None else min(1.0, len(joined) / whole)


def _choose_final_attempt(task: _TaskAttempts, k: int) -> AttemptResult:
    first = task.take_first(k)
    return next((attempt for attempt in first if attempt.solved), first[-1])


# -- attempts from rows ----------------------------------------------------------------------------


def _group_method_rows(rows: Sequence[MethodResult]) -> Iterator[_TaskAttempts]:
    for _, task in _group_by_name(rows, lambda row: row.task_id):
        attempts: dict[int, list[MethodResult]] = {}
        for row in task:
            attempts.setdefault(row.attempt, []).append(row)
        tried = [_summarise_methods(number, of) for number, of in sorted(attempts.items())]
        yield _TaskAttempts(repo=task[0].repo, tried=tried)


def _summarise_methods(number: int, rows: Sequence[MethodResult]) -> AttemptResult:
    outcomes = {row.outcome for row in rows}
    fails = outcomes - {TaskOutcome.SUCCESS, TaskOutcome.INFRA}
    trouble = TaskOutcome.INFRA in outcomes and not fails
    return AttemptResult(
        number=number,
        solved=None if trouble else not fails,
        missing=all(row.detail is Detail.NO_PREDICTION for row in rows),
    )


def _group_suite_rows(rows: Sequence[SuiteResult]) -> Iterator[_TaskAttempts]:
    for _, task in _group_by_name(rows, lambda row: row.task_id):
        ordered = sorted(task, key=lambda row: row.attempt)
        yield _TaskAttempts(repo=task[0].repo, tried=[_summarise_suite(row) for row in ordered])


def _summarise_suite(row: SuiteResult) -> AttemptResult:
    trouble = row.outcome is SuiteOutcome.INFRA
    return AttemptResult(
        number=row.attempt,
        solved=None if trouble else solves_task(row),
        missing=row.detail is Detail.NO_PREDICTION,
        suite=row,
    )


def _group_by_name(
    rows: Sequence[Row], name: Callable[[Row], str]
) -> Sequence[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(name(row), []).append(row)
    return sorted(groups.items())
