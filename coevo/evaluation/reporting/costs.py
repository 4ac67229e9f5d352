"""What agents spend: caps applied after the fact (TestEvo-Bench, Table 10), the cost curve (Figure 5).

A task above a cap is HrnsFail under it, whatever its patch is worth. So is one of which nobody says
what it cost: silence must not pay. Where no task has a cost there is nothing to report.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import samples
from coevo.evaluation.reporting.bootstrap import MeanEstimate, Sample, estimate_mean
from coevo.evaluation.reporting.rates import Average, OutcomeRates, estimate_rates, filter_graded
from coevo.evaluation.reporting.samples import Rows
from coevo.model.words import Track

CAPS_USD = (3.0, 1.0, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedRates:
    """A row of Table 10.

    tasks_within         tasks that cost at most the cap; `kept` is their share of all (Figure 5)
    avg_tokens, avg_cost means over these tasks, of those that say it
    micro                over all methods
    """

    cap_usd: float
    tasks_within: int
    kept: float
    avg_tokens: MeanEstimate
    avg_cost_usd: MeanEstimate
    micro: OutcomeRates


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPoint:
    """That share of all tasks costs at most so much."""

    cost_usd: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    tasks: int
    tasks_without_cost: int
    caps: Sequence[CappedRates]
    curve: Sequence[CostPoint]


def summarise_costs(rows: Rows, track: Track) -> CostReport | None:
    """Of the rows of a track; None where no task says what it cost."""
    of = filter_graded(rows)
    tasks = [task[0] for task in samples.group_by_task(of).values()]
    known = [task.cost_usd for task in tasks if task.cost_usd is not None]
    if not known:
        return None
    return CostReport(
        tasks=len(tasks),
        tasks_without_cost=len(tasks) - len(known),
        caps=[_apply_cap(of, tasks, cap, track) for cap in CAPS_USD],
        curve=list(_make_cost_curve(known, len(tasks))),
    )


def _apply_cap(rows: Rows, tasks: Rows, cap: float, track: Track) -> CappedRates:
    within = [task for task in tasks if _is_within_cap(task, cap)]
    return CappedRates(
        cap_usd=cap,
        tasks_within=len(within),
        kept=len(within) / len(tasks),
        avg_tokens=_estimate_mean(within, lambda task: task.tokens),
        avg_cost_usd=_estimate_mean(within, lambda task: task.cost_usd),
        micro=estimate_rates([_fail_above_cap(row, cap) for row in rows], track, Average.MICRO),
    )


def _is_within_cap(row: MethodResult, cap: float) -> bool:
    return row.cost_usd is not None and row.cost_usd <= cap


def _fail_above_cap(row: MethodResult, cap: float) -> MethodResult:
    if _is_within_cap(row, cap):
        return row
    return dataclasses.replace(row, outcome=TaskOutcome.HRNS_FAIL)


def _estimate_mean(tasks: Rows, spent: Callable[[MethodResult], float | None]) -> MeanEstimate:
    known = [(task.repo, spent(task)) for task in tasks]
    return estimate_mean(
        Sample(repo=repo, value=value) for repo, value in known if value is not None
    )


def _make_cost_curve(known: Sequence[float], tasks: int) -> Iterator[CostPoint]:
    """The empirical distribution; tasks without a cost never come below it."""
    reached = 0
    for cost, count in sorted(Counter(known).items()):
        reached += count
        yield CostPoint(cost_usd=cost, share=reached / tasks)
