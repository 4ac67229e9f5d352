"""What several attempts at a task come to, for k = 1, 2, …; all else of a report is of first attempts.

A task is solved by an attempt in which every target, or every test of its suite, succeeds. Of attempts that
know nothing of each other, n of which c solve it, the share of draws of k in which one does is
1 - C(n - c, k) / C(n, k) (Chen et al., https://arxiv.org/abs/2107.03374). Of others the first k count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.evaluation.reporting.bootstrap import Sample
from coevo.evaluation.reporting.bootstrap import estimate
from coevo.evaluation.reporting.maintenance import solves
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.families import SuiteAdequacy

Row = TypeVar('Row', MethodResult, SuiteResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtK:
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
    solved: Estimate
    correct: Estimate
    lines: Estimate
    branches: Estimate
    mutation: Estimate
    mutation_correct: Estimate
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """Of a track, or of a family of suites; `attempts` is how many a task has at most."""

    of: str
    protocol: AttemptProtocol
    attempts: int
    tasks: int
    at: Sequence[AtK]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An attempt: whether it solves its task, None for trouble of ours; of a suite, its row."""

    number: int
    solved: bool | None
    missing: bool
    suite: SuiteResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """The attempts at a task, in their order."""

    repo: str
    tried: Sequence[Tried]

    def first(self, k: int) -> Sequence[Tried]:
        return self.tried[:k]

    @property
    def is_unanswered(self) -> bool:
        return all(one.missing for one in self.tried)


def attempt_reports(
    rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> list[AttemptReport]:
    """One for each track and family that a task of was attempted more than once; none where none was."""
    everything: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    protocol = next((row.protocol for row in everything if row.attempt > 1), None)
    if protocol is None:
        return []
    most = max(row.attempt for row in everything)
    tracks = [
        _report(name, protocol, most, list(_of_methods(part)))
        for name, part in _by_name(rows, lambda row: str(row.track))
        if any(row.attempt > 1 for row in part)
    ]
    families = [
        _report(name, protocol, most, list(_of_suites(part)))
        for name, part in _by_name(suites, lambda row: str(row.family))
        if any(row.attempt > 1 for row in part)
    ]
    return tracks + families


def pass_at(n: int, c: int, k: int) -> float:
    """The share of draws of k attempts of n, of which c solve a task, in which one does."""
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def _report(
    name: str, protocol: AttemptProtocol, most: int, tasks: Sequence[_Task]
) -> AttemptReport:
    return AttemptReport(
        of=name,
        protocol=protocol,
        attempts=most,
        tasks=len(tasks),
        at=[_at(protocol, tasks, k) for k in range(1, most + 1)],
    )


def _at(protocol: AttemptProtocol, tasks: Sequence[_Task], k: int) -> AtK:
    solved = [(task, _solved(protocol, task, k)) for task in tasks]
    return AtK(
        k=k,
        solved=_mean(solved),
        correct=_mean((task, _correct(protocol, task, k)) for task in tasks),
        lines=_mean((task, _worth(protocol, task, k, _lines)) for task in tasks),
        branches=_mean((task, _worth(protocol, task, k, _branches)) for task in tasks),
        mutation=_mean((task, _worth(protocol, task, k, _mutants)) for task in tasks),
        mutation_correct=_mean(
            (task, _worth(protocol, task, k, _mutants))
            for task in tasks
            if all(one.solved for one in task.tried)
        ),
        unknown=sum(value is None for _, value in solved),
    )


def _mean(values: Iterable[tuple[_Task, float | None]]) -> Estimate:
    return estimate(
        Sample(repo=task.repo, value=value) for task, value in values if value is not None
    )


def _solved(protocol: AttemptProtocol, task: _Task, k: int) -> float | None:
    if task.is_unanswered:
        return 0.0
    if protocol is AttemptProtocol.ONCE:
        judged = [one for one in task.tried if one.solved is not None]
        solving = sum(bool(one.solved) for one in judged)
        return pass_at(len(judged), solving, k) if k <= len(judged) else None
    outcomes = [one.solved for one in task.first(k)]
    if True in outcomes:
        return 1.0
    return None if None in outcomes else 0.0


def _correct(protocol: AttemptProtocol, task: _Task, k: int) -> float | None:
    if protocol is AttemptProtocol.FEEDBACK:
        return None
    first = [one for one in task.first(k) if one.solved is not None]
    return sum(bool(one.solved) for one in first) / len(first) if first else None


# -- what suites are worth -------------------------------------------------------------------------

_Counted = tuple[frozenset[str] | None, int | None]
_Reach = Callable[[SuiteResult], _Counted]


def _lines(row: SuiteResult) -> _Counted:
    """Of gold's lines with code, those that a suite executes."""
    reached = None if row.reach is None or row.reach.lines is None else frozenset(row.reach.lines)
    return reached, _whole(row.gold_adequacy, 'lines')


def _branches(row: SuiteResult) -> _Counted:
    taken = (
        None if row.reach is None or row.reach.branches is None else frozenset(row.reach.branches)
    )
    return taken, _whole(row.gold_adequacy, 'branches')


def _mutants(row: SuiteResult) -> _Counted:
    killed = None if row.reach is None or row.reach.killed is None else frozenset(row.reach.killed)
    return killed, _whole(row.gold_adequacy, 'mutants')


def _whole(adequacy: SuiteAdequacy | None, name: str) -> int | None:
    found: int | None = None if adequacy is None else getattr(adequacy, name)
    return found or None


def _worth(protocol: AttemptProtocol, task: _Task, k: int, reach: _Reach) -> float | None:
    """None where it is not known of one of those that count."""
    if protocol is AttemptProtocol.ONCE:
        return None
    counted = task.first(k) if protocol is AttemptProtocol.DIVERSIFY else [_standing(task, k)]
    joined: set[str] = set()
    whole: int | None = None
    for one in counted:
        if one.suite is None or one.solved is None:
            return None
        reached, count = reach(one.suite)
        if any(test.passes for test in one.suite.tests):
            if reached is None:
                return None
            joined |= reached
        whole = whole or count
    return None if whole is None else min(1.0, len(joined) / whole)


def _standing(task: _Task, k: int) -> Tried:
    first = task.first(k)
    return next((one for one in first if one.solved), first[-1])


# -- attempts from rows ----------------------------------------------------------------------------


def _of_methods(rows: Sequence[MethodResult]) -> Iterator[_Task]:
    for _, task in _by_name(rows, lambda row: row.task_id):
        attempts: dict[int, list[MethodResult]] = {}
        for row in task:
            attempts.setdefault(row.attempt, []).append(row)
        tried = [_methods(number, of) for number, of in sorted(attempts.items())]
        yield _Task(repo=task[0].repo, tried=tried)


def _methods(number: int, rows: Sequence[MethodResult]) -> Tried:
    outcomes = {row.outcome for row in rows}
    fails = outcomes - {TaskOutcome.SUCCESS, TaskOutcome.INFRA}
    trouble = TaskOutcome.INFRA in outcomes and not fails
    return Tried(
        number=number,
        solved=None if trouble else not fails,
        missing=all(row.detail is Detail.NO_PREDICTION for row in rows),
    )


def _of_suites(rows: Sequence[SuiteResult]) -> Iterator[_Task]:
    for _, task in _by_name(rows, lambda row: row.task_id):
        ordered = sorted(task, key=lambda row: row.attempt)
        yield _Task(repo=task[0].repo, tried=[_suite(row) for row in ordered])


def _suite(row: SuiteResult) -> Tried:
    trouble = row.outcome is SuiteOutcome.INFRA
    return Tried(
        number=row.attempt,
        solved=None if trouble else solves(row),
        missing=row.detail is Detail.NO_PREDICTION,
        suite=row,
    )


def _by_name(rows: Sequence[Row], name: Callable[[Row], str]) -> Sequence[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(name(row), []).append(row)
    return sorted(found.items())
