"""What follows from the outcome of a method and its adequacy, beyond the paper's own outcomes."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.records import Adequacy
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import TaskOutcome


def flagged(row: MethodResult) -> MethodResult:
    """The row with what follows from its outcome and its adequacy."""
    return replace(
        row,
        success_strict=success_strict(row.outcome, row.adequacy),
        vacuous=vacuous(row.outcome, row.adequacy),
        oracle_preserved=oracle_preserved(row.adequacy),
    )


def success_strict(outcome: TaskOutcome, adequacy: Adequacy | None) -> bool | None:
    """Success of a test that executes a changed dependency, reaches an assertion, and fails with
    at least one change undone that makes gold fail.

    None where that cannot be asked: trouble of ours, or gold itself notices no change.
    """
    if outcome is TaskOutcome.INFRA:
        return None
    if outcome is not TaskOutcome.SUCCESS:
        return False
    if adequacy is None:
        return None
    undone = adequacy.reversals
    notices = None if undone is None or not undone.gold else undone.both > 0
    return _all(adequacy.executes_delta, adequacy.reaches_assertion, notices)


def vacuous(outcome: TaskOutcome, adequacy: Adequacy | None) -> bool | None:
    """Whether a test that passes on the new code can tell nothing of the change: it executes none
    of it, or reaches no assertion. None where it does not pass, or that is not known."""
    if not outcome.passes_on_new or adequacy is None:
        return None
    says_something = _all(adequacy.executes_delta, adequacy.reaches_assertion)
    return None if says_something is None else not says_something


def oracle_preserved(adequacy: Adequacy | None) -> bool | None:
    """Whether an update still kills all that the old test killed; None where there was nothing."""
    oracle = adequacy.oracle if adequacy is not None else None
    return None if oracle is None or not oracle.count else not oracle.lost


def _all(*conditions: bool | None) -> bool | None:
    """False outweighs what is not known."""
    if False in conditions:
        return False
    return None if None in conditions else True
