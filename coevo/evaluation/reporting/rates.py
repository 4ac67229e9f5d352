"""Shares of the outcomes (TestEvo-Bench, §4.3): macro over tasks, micro over methods.

Trouble of ours (`infra`) is outside of every denominator: a task counts by its other methods, and
not at all where it has no other.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import samples
from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.evaluation.reporting.bootstrap import Sample
from coevo.evaluation.reporting.bootstrap import estimate
from coevo.evaluation.reporting.samples import Rows
from coevo.evaluation.reporting.samples import Score
from coevo.model.words import Track


class RateVerdict(StrEnum):
    """Whose compile verdict counts: the method's own (headline), or that of its whole module."""

    METHOD = 'method'
    MODULE = 'module'

    def outcome(self, row: MethodResult) -> TaskOutcome:
        return row.outcome if self is RateVerdict.METHOD else row.outcome_by_module


class Average(StrEnum):
    """Over what a rate is a mean."""

    MACRO = 'macro'  # tasks, each with the share of its methods
    MICRO = 'micro'  # methods

    @property
    def samples(self) -> Callable[[Rows, Score], Iterator[Sample]]:
        return samples.narrow if self is Average.MACRO else samples.micro


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares from 0 to 1 that sum up to 1; `redundant` is None but for generation."""

    success: Estimate
    redundant: Estimate | None
    exec_fail: Estimate
    cmpl_fail: Estimate
    hrns_fail: Estimate


def graded(rows: Rows, verdict: RateVerdict = RateVerdict.METHOD) -> Rows:
    """The rows but for trouble of ours."""
    return [row for row in rows if verdict.outcome(row) is not TaskOutcome.INFRA]


def rates(
    rows: Rows, track: Track, average: Average, verdict: RateVerdict = RateVerdict.METHOD
) -> Rates:
    """The shares over rows of that track."""
    of = graded(rows, verdict)

    def share(outcome: TaskOutcome) -> Estimate:
        return estimate(average.samples(of, indicator(outcome, verdict)))

    return Rates(
        success=share(TaskOutcome.SUCCESS),
        redundant=share(TaskOutcome.REDUNDANT) if track is Track.GENERATION else None,
        exec_fail=share(TaskOutcome.EXEC_FAIL),
        cmpl_fail=share(TaskOutcome.CMPL_FAIL),
        hrns_fail=share(TaskOutcome.HRNS_FAIL),
    )


def indicator(outcome: TaskOutcome, verdict: RateVerdict = RateVerdict.METHOD) -> Score:
    """1 for a method with that outcome, 0 for any other."""
    return lambda row: float(verdict.outcome(row) is outcome)
