"""From what was seen of a target to its one outcome (TestEvo-Bench, §4.3): pure and total."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.outcomes import Detail, Placebo, TaskOutcome
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome, Track

# What is no verdict on a compiled test that ran to its end.
_ON_NEW = {
    Outcome.COMPILE_ERROR: (TaskOutcome.CMPL_FAIL, Detail.COMPILE_ERROR),
    Outcome.FAIL: (TaskOutcome.EXEC_FAIL, Detail.FAIL),
    Outcome.ERROR: (TaskOutcome.EXEC_FAIL, Detail.ERROR),
    Outcome.TIMEOUT: (TaskOutcome.EXEC_FAIL, Detail.TIMEOUT),
    Outcome.MISSING: (TaskOutcome.HRNS_FAIL, Detail.TARGET_MISSING),
    Outcome.SKIPPED: (TaskOutcome.HRNS_FAIL, Detail.TARGET_DISABLED),
    Outcome.UNBUILDABLE: (TaskOutcome.INFRA, Detail.NOT_BUILT),
    Outcome.INFRA: (TaskOutcome.INFRA, Detail.TROUBLE),
}

Decision = tuple[TaskOutcome, Detail | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetResult:
    """What was seen of one target, as far as it came.

    trouble          of ours, that stayed
    refusal          of the whole patch
    submitted        whether the target stands in the file
    precondition     what the old test does on the new code (update, repair)
    new, old         of the submitted test on the new code, and in the old tree on old code
    …_module_ok      whether the whole module compiles there
    passes           how often it passed unobserved on the new code
    slowest          CPU seconds of the slowest of these runs
    unstable         where its runs did not agree, and how
    placebo          with which edits of no effect it was run; None where none was asked
    output           of the process on the new code
    cpu_seconds, seconds  of what was run for this target alone
    """

    trouble: Refusal | None = None
    refusal: Refusal | None = None
    submitted: bool = False
    precondition: Outcome | None = None
    new: Verdict | None = None
    new_module_ok: bool | None = None
    old: Verdict | None = None
    old_module_ok: bool | None = None
    passes: int = 0
    slowest: float = 0.0
    unstable: str | None = None
    placebo: Placebo | None = None
    note: str = ''
    output: str = ''
    cpu_seconds: float = 0.0
    seconds: float = 0.0


def decide_outcome(track: Track, seen: TargetResult) -> Decision:
    """By the method's own verdicts."""
    if seen.refusal is not None:
        return TaskOutcome.HRNS_FAIL, seen.refusal.detail
    if seen.trouble is not None:
        return TaskOutcome.INFRA, seen.trouble.detail
    if seen.precondition is not None and not seen.precondition.is_broken:
        return TaskOutcome.INFRA, Detail.PRECONDITION
    if not seen.submitted:
        return TaskOutcome.HRNS_FAIL, Detail.TARGET_MISSING
    assert seen.new is not None, 'what was submitted and not refused was run'
    if seen.new.outcome is not Outcome.PASS:
        return _ON_NEW[seen.new.outcome]
    if seen.new.tampered is not None:
        return TaskOutcome.HRNS_FAIL, Detail.TAMPERED
    if seen.unstable is not None:
        return TaskOutcome.EXEC_FAIL, Detail.UNSTABLE
    return _decide_on_old(seen) if track is Track.GENERATION else (TaskOutcome.SUCCESS, None)


def _decide_on_old(seen: TargetResult) -> Decision:
    assert seen.old is not None, 'a generated test that passes was run on old code'
    if seen.old.outcome in (Outcome.UNBUILDABLE, Outcome.INFRA):
        return _ON_NEW[seen.old.outcome]
    if seen.old.outcome.is_broken:
        return TaskOutcome.SUCCESS, None
    if seen.old.outcome is Outcome.MISSING:  # nobody ran it: that says nothing of the old code
        return TaskOutcome.HRNS_FAIL, Detail.MISSING_ON_OLD
    return TaskOutcome.REDUNDANT, Detail.PASSES_ON_OLD


def decide_outcome_by_module(track: Track, seen: TargetResult) -> TaskOutcome:
    """As where one file that does not compile breaks its module (Maven, the paper's harness)."""
    broken = Verdict(outcome=Outcome.COMPILE_ERROR)
    strict = replace(
        seen,
        new=broken if seen.new and not seen.new_module_ok else seen.new,
        old=broken if seen.old and not seen.old_module_ok else seen.old,
    )
    return decide_outcome(track, strict)[0]
