"""Flags that follow from the outcome and adequacy of a method, beyond the paper's own outcomes."""

from __future__ import annotations

from dataclasses import replace

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.worth import Adequacy, Detections
from coevo.model.quality import Mutation


def set_flags(row: MethodResult) -> MethodResult:
    """Return the row with `success_strict`, `vacuous` and `oracle_preserved`.

    They follow from its outcome and its adequacy. Strict success is unknown, also of a test that
    fails, where it cannot be asked: gold itself lacks it there.
    """
    return replace(
        row,
        success_strict=_decide_strict(row),
        vacuous=is_vacuous(row.outcome, row.adequacy),
        oracle_preserved=preserves_oracle(row.adequacy),
    )


def _decide_strict(row: MethodResult) -> bool | None:
    if not row.strict_askable:
        return None
    harmed = (row.others_lost or 0) + (row.others_weakened or 0)
    if row.outcome is TaskOutcome.SUCCESS and row.copies_code:
        return False
    return is_strict_success(
        row.outcome,
        row.adequacy,
        row.mutation_gold,
        None if row.others_lost is None else harmed,
    )


def is_strict_success(
    outcome: TaskOutcome,
    adequacy: Adequacy | None,
    gold: Mutation | None,
    others_lost: int | None,
) -> bool | None:
    """Return whether a test succeeds and demonstrably checks the change; None if that is unknown.

    All of these must hold: it executes a changed dependency and reaches an assertion. It fails with
    at least one change undone that makes gold fail. It kills at least one mutant that gold kills,
    if gold kills any. Its patch breaks no neighbour. If gold ran and failed with such an edit, the
    test must run and fail with one as well, since a mere compile error shows only which names the
    test uses.

    It is None for trouble of coevo's own, if gold itself notices no change, or if gold notices
    edits only by not compiling.
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
    """Return whether the test kills a mutant that gold kills; True if gold kills none.

    None if gold kills mutants and none of these was run.
    """
    if found is not None and found.gold:
        return _notices(found)
    return None if gold is not None and gold.killed else True


def _notices(found: Detections) -> bool:
    return found.both_ran > 0 if found.gold_ran and found.both_ran is not None else found.both > 0


def _is_noticed_by_name_alone(*found: Detections | None) -> bool:
    """Return whether gold never ran and failed with an edit, but at most did not compile.

    Any test that uses a new name does not compile then, either.
    """
    gold_ran_counts = [detections.gold_ran for detections in found if detections is not None]
    return bool(gold_ran_counts) and all(ran == 0 for ran in gold_ran_counts)


def is_vacuous(outcome: TaskOutcome, adequacy: Adequacy | None) -> bool | None:
    """Return whether a test that passes on the new code cannot check the change.

    It is vacuous if it executes no changed dependency or reaches no assertion. None if it does not
    pass, or if that is unknown.
    """
    if not outcome.passes_on_new or adequacy is None:
        return None
    says_something = _all_hold(adequacy.executes_delta, adequacy.reaches_assertion)
    return None if says_something is None else not says_something


def preserves_oracle(adequacy: Adequacy | None) -> bool | None:
    """Return whether an update or extension still kills all that the old test killed.

    None if the old test killed nothing, or if that was not measured.
    """
    oracle = adequacy.oracle if adequacy is not None else None
    return None if oracle is None or not oracle.count else not oracle.lost


def _all_hold(*conditions: bool | None) -> bool | None:
    """Return the conjunction of the conditions; False outweighs None (unknown)."""
    if False in conditions:
        return False
    return None if None in conditions else True
