"""Shares of the outcomes (TestEvo-Bench, §4.3): macro over tasks, micro over methods.

Trouble of ours (`infra`) is outside of every denominator: a task counts by its other methods, and
not at all where it has no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import samples
from coevo.evaluation.reporting.bootstrap import MeanEstimate, Sample, estimate_mean
from coevo.evaluation.reporting.samples import Rows, Score
from coevo.model.words import Track


class RateVerdict(StrEnum):
    """Whose compile verdict counts: the method's own (headline), or that of its whole module."""

    METHOD = 'method'
    MODULE = 'module'

    def get_outcome(self, row: MethodResult) -> TaskOutcome:
        return row.outcome if self is RateVerdict.METHOD else row.outcome_by_module


class Average(StrEnum):
    """Over what a rate is a mean."""

    MACRO = 'macro'  # tasks, each with the share of its methods
    MICRO = 'micro'  # methods

    @property
    def samples(self) -> Callable[[Rows, Score], Iterator[Sample]]:
        return samples.sample_measured_tasks if self is Average.MACRO else samples.sample_methods


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRates:
    """Shares from 0 to 1 that sum up to 1; `redundant` is None but for generation."""

    success: MeanEstimate
    redundant: MeanEstimate | None
    exec_fail: MeanEstimate
    cmpl_fail: MeanEstimate
    hrns_fail: MeanEstimate


def filter_graded(rows: Rows, verdict: RateVerdict = RateVerdict.METHOD) -> Rows:
    """The rows but for trouble of ours."""
    return [row for row in rows if verdict.get_outcome(row) is not TaskOutcome.INFRA]


def estimate_rates(
    rows: Rows, track: Track, average: Average, verdict: RateVerdict = RateVerdict.METHOD
) -> OutcomeRates:
    """The shares over rows of that track."""
    of = filter_graded(rows, verdict)

    def estimate_share(outcome: TaskOutcome) -> MeanEstimate:
        return estimate_mean(average.samples(of, make_indicator(outcome, verdict)))

    return OutcomeRates(
        success=estimate_share(TaskOutcome.SUCCESS),
        redundant=estimate_share(TaskOutcome.REDUNDANT) if track is Track.GENERATION else None,
        exec_fail=estimate_share(TaskOutcome.EXEC_FAIL),
        cmpl_fail=estimate_share(TaskOutcome.CMPL_FAIL),
        hrns_fail=estimate_share(TaskOutcome.HRNS_FAIL),
    )


def make_indicator(outcome: TaskOutcome, verdict: RateVerdict = RateVerdict.METHOD) -> Score:
    """1 for a method with that outcome, 0 for any other."""
    return lambda row: float(verdict.get_outcome(row) is outcome)
