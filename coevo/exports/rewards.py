"""The rewards of a graded attempt: four numbers from 0 to 1, made of the rows of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """The rewards of one attempt at one task; None where a value was not measured.

    success   1 if every target succeeds (of a suite: if every test passes), else 0
    strict    1 if every target succeeds strictly, 0 if one certainly does not
    coverage  the covered share of the code lines of the changed dependencies, the mean over the
              targets; a target that does not pass has 0
    mutants   the share of the mutants that gold kills which the answer kills, too, the mean over
              the targets for which gold kills any
    """

    success: float
    strict: float | None = None
    coverage: float | None = None
    mutants: float | None = None

    @property
    def rank(self) -> tuple[float, float]:
        """The order of attempts at one task: success first, then strict; unknown counts as 0."""
        return self.success, self.strict or 0.0


def compute_rewards(rows: Sequence[MethodResult]) -> Rewards | None:
    """Return the rewards of an attempt by the rows of its targets.

    None if coevo could not grade one of them, since that says nothing about the answer.
    """
    if not rows or any(row.outcome is TaskOutcome.INFRA for row in rows):
        return None
    return Rewards(
        success=float(all(row.outcome is TaskOutcome.SUCCESS for row in rows)),
        strict=_decide_strict(rows),
        coverage=_compute_mean(rows, _get_coverage),
        mutants=_compute_mean(rows, _get_mutants),
    )


def compute_suite_rewards(row: SuiteResult) -> Rewards | None:
    """Return the rewards of an attempt at a suite; None if coevo could not grade it."""
    if row.outcome is SuiteOutcome.INFRA:
        return None
    return Rewards(success=float(row.outcome is SuiteOutcome.SUCCESS))


def _decide_strict(rows: Sequence[MethodResult]) -> float | None:
    flags = {row.success_strict for row in rows}
    if False in flags:
        return 0.0
    return None if None in flags else 1.0


def _compute_mean(
    rows: Iterable[MethodResult], get: Callable[[MethodResult], float | None]
) -> float | None:
    values = [value for row in rows if (value := get(row)) is not None]
    return round(fmean(values), 6) if values else None


def _get_coverage(row: MethodResult) -> float | None:
    if not row.outcome.passes_on_new:
        return 0.0
    coverage = row.adequacy.coverage_pred if row.adequacy is not None else None
    return coverage.code_coverage if coverage is not None else None


def _get_mutants(row: MethodResult) -> float | None:
    if not row.outcome.passes_on_new:
        return 0.0
    mutants = row.adequacy.mutants if row.adequacy is not None else None
    return mutants.both / mutants.gold if mutants is not None and mutants.gold else None
