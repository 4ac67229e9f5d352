"""What follows from the outcome of a method and its adequacy, beyond the paper's own outcomes."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.worth import Adequacy, Detections
from coevo.model.quality import Mutation


def set_flags(row: MethodResult) -> MethodResult:
    """The row with what follows from its outcome and its adequacy."""
    return replace(
        row,
        success_strict=is_strict_success(
            row.outcome, row.adequacy, row.mutation_gold, row.others_lost
        ),
        vacuous=is_vacuous(row.outcome, row.adequacy),
        oracle_preserved=preserves_oracle(row.adequacy),
    )


def is_strict_success(
    outcome: TaskOutcome,
    adequacy: Adequacy | None,
    gold: Mutation | None,
    others_lost: int | None,
) -> bool | None:
    """Success of a test that executes a changed dependency, reaches an assertion, fails with at
    least one change undone that makes gold fail, and kills at least one mutant that gold kills, if
    gold kills any; its patch costs no other test of the file. Where gold ran and failed with one,
    so has the test: that it no longer compiles says only which names it has.

    None where that cannot be asked: trouble of ours, gold itself notices no change, or all that
    gold notices it notices by its names.
    """
    if outcome is TaskOutcome.INFRA:
        return None
    if outcome is not TaskOutcome.SUCCESS:
        return False
    nothing_lost = None if others_lost is None else not others_lost
    if adequacy is None:
        return _all_hold(nothing_lost, None)
    undone = adequacy.reversals
    notices = None if undone is None or not undone.gold else _notices(undone)
    kills = _kills_enough(adequacy.mutants, gold)
    return _all_hold(
        *(adequacy.executes_delta, adequacy.reaches_assertion, notices, kills, nothing_lost),
        None if _is_noticed_by_name_alone(undone, adequacy.mutants) else True,
    )


def _kills_enough(found: Detections | None, gold: Mutation | None) -> bool | None:
    """None where gold kills mutants, and none of these was run."""
    if found is not None and found.gold:
        return _notices(found)
    return None if gold is not None and gold.killed else True


def _notices(found: Detections) -> bool:
    return found.both_ran > 0 if found.gold_ran and found.both_ran is not None else found.both > 0


def _is_noticed_by_name_alone(*found: Detections | None) -> bool:
    """Whether gold ran and failed with nothing of it; whoever calls what is new does as well."""
    gold_ran_counts = [detections.gold_ran for detections in found if detections is not None]
    return bool(gold_ran_counts) and all(ran == 0 for ran in gold_ran_counts)


def is_vacuous(outcome: TaskOutcome, adequacy: Adequacy | None) -> bool | None:
    """Whether a test that passes on the new code can tell nothing of the change: it executes none
    of it, or reaches no assertion. None where it does not pass, or that is not known."""
    if not outcome.passes_on_new or adequacy is None:
        return None
    says_something = _all_hold(adequacy.executes_delta, adequacy.reaches_assertion)
    return None if says_something is None else not says_something


def preserves_oracle(adequacy: Adequacy | None) -> bool | None:
    """Whether an update still kills all that the old test killed; None where there was nothing."""
    oracle = adequacy.oracle if adequacy is not None else None
    return None if oracle is None or not oracle.count else not oracle.lost


def _all_hold(*conditions: bool | None) -> bool | None:
    """False outweighs what is not known."""
    if False in conditions:
        return False
    return None if None in conditions else True
