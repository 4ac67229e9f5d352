"""The rewards of a graded attempt at a task, and when one attempt is better than another.

A reward is a number from 0 to 1, or unknown. `success` is 1 if every target is a success, or if
every test of a suite passes and none that was to be maintained is lost; of submitted code, if the
given tests pass and none that passed before is lost. `strict` is 1 if every target is a strict
success, and of submitted code, if the tests that are not shown hold, too; it is unknown for suites,
and where it cannot be asked of a target. `coverage` is the share of the lines with code in the
changed dependencies (of a suite: in the focus) that the tests execute, and `mutants` the share of
the released mutants that they notice; both are means over the targets, and unknown for code. A test
that does not pass counts as 0 in all of them. Nothing is known of an attempt that coevo itself could
not grade (`infra`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from coevo.evaluation.measuring.strict import decide_task_strict
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import MaintainedOutcome, SuiteOutcome, SuiteResult
from coevo.model.families import Family

# Digits that are written: the same share gives the same text, whatever it was computed from.
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """The rewards of an attempt; None is unknown."""

    success: float | None = None
    strict: float | None = None
    coverage: float | None = None
    mutants: float | None = None

    def to_mapping(self) -> dict[str, float | None]:
        """Return the rewards by name, in the order of the fields."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def dominates(self, other: Rewards) -> bool:
        """Return whether no reward is lower than the other's and at least one is higher.

        What is unknown on one side alone may have any value. What is unknown on both sides is not
        compared.
        """
        pairs = [
            (ours, theirs)
            for ours, theirs in zip(
                self.to_mapping().values(), other.to_mapping().values(), strict=True
            )
            if ours is not None or theirs is not None
        ]
        at_least = all(_at_least(ours, theirs) for ours, theirs in pairs)
        return at_least and any(
            ours is not None and theirs is not None and ours > theirs for ours, theirs in pairs
        )


def _at_least(ours: float | None, theirs: float | None) -> bool:
    """Return whether a reward is not lower than another, whatever an unknown one may be."""
    return (0.0 if ours is None else ours) >= (1.0 if theirs is None else theirs)


_LOST = (
    MaintainedOutcome.MISSED,
    MaintainedOutcome.BROKEN,
    MaintainedOutcome.WEAKENED,
    MaintainedOutcome.DELETED_WRONGLY,
)

UNKNOWN = Rewards()
"""The rewards of an attempt of which nothing is known."""


def compute_rewards(rows: Sequence[MethodResult]) -> Rewards:
    """Return the rewards of an attempt, from the rows of all of its targets."""
    if not rows or any(row.outcome is TaskOutcome.INFRA for row in rows):
        return UNKNOWN
    return Rewards(
        success=float(all(row.outcome is TaskOutcome.SUCCESS for row in rows)),
        strict=_score(decide_task_strict(rows)),
        coverage=_average([_get_coverage(row) for row in rows]),
        mutants=_average([_get_mutation_score(row) for row in rows]),
    )


def _score(answer: bool | None) -> float | None:
    return None if answer is None else float(answer)


def _average(shares: Sequence[float | None]) -> float | None:
    """Return the mean, None if one share is unknown."""
    known = [share for share in shares if share is not None]
    return round(math.fsum(known) / len(known), _DIGITS) if len(known) == len(shares) else None


def _get_coverage(row: MethodResult) -> float | None:
    if not row.outcome.passes_on_new:
        return 0.0
    measured = row.adequacy.coverage_pred if row.adequacy else None
    return None if measured is None else _divide(measured.covered_lines, measured.known_lines)


def _get_mutation_score(row: MethodResult) -> float | None:
    if not row.outcome.passes_on_new:
        return 0.0
    measured = row.adequacy.mutants if row.adequacy else None
    return None if measured is None else _divide(measured.pred, measured.count)


def _divide(part: int | None, whole: int | None) -> float | None:
    """Return a share, None if it is unknown or there is nothing to have a share of."""
    return None if part is None or not whole else part / whole


def compute_suite_rewards(row: SuiteResult) -> Rewards:
    """Return the rewards of an attempt at a suite."""
    if row.outcome is SuiteOutcome.INFRA:
        return UNKNOWN
    lost = any(test.outcome in _LOST for test in row.maintained or ())
    success = float(row.outcome is SuiteOutcome.SUCCESS and not lost)
    if row.family is Family.IMPLEMENT:
        return Rewards(success=success, strict=_score(row.success_strict))
    if row.outcome not in (SuiteOutcome.SUCCESS, SuiteOutcome.PARTLY):
        return Rewards(success=success, coverage=0.0, mutants=0.0)
    worth = row.adequacy
    if worth is None:
        return Rewards(success=success)
    return Rewards(
        success=success,
        coverage=_average([_divide(worth.covered_lines, worth.lines)]),
        mutants=_average([_divide(worth.killed, worth.mutants)]),
    )
