"""The decision from the results of a target to its one outcome (TestEvo-Bench, §4.3).

The functions are pure and total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.outcomes import Detail, Placebo, TaskOutcome
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome, Track

# The decisions for every outcome of a run other than a pass.
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
    """The results of one target, as far as it was graded.

    trouble               trouble of coevo's own that remained after all tries
    refusal               why the whole patch is refused
    submitted             whether the submitted file has the target
    precondition          the outcome of the old test on the new code; None for generation
    new, old              the verdicts on the submitted test, on the new code, and in the old tree
                          on the old code
    …_module_ok           whether the whole module compiles there
    passes                how many unobserved runs passed on the new code
    slowest               CPU seconds of the slowest of these runs
    unstable              how its runs disagreed; None if they did not
    placebo               the kind of placebo it was run with; None if with none
    weakened              whether it no longer kills mutants that the old test kills; False if that
                          was not measured
    output                the output of the process on the new code
    cpu_seconds, seconds  processor time and elapsed time of the runs for this target alone
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
    weakened: bool = False
    note: str = ''
    output: str = ''
    cpu_seconds: float = 0.0
    seconds: float = 0.0


def decide_outcome(track: Track, seen: TargetResult) -> Decision:
    """Return the outcome of a target, with a detail unless it is a success.

    Whether it compiles is decided for the method itself, not for its whole module.
    """
    if seen.refusal is not None:
        return TaskOutcome.HRNS_FAIL, seen.refusal.detail
    if seen.trouble is not None:
        return TaskOutcome.INFRA, seen.trouble.detail
    if seen.precondition is not None and not track.accepts_at_start(seen.precondition):
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
    return (
        _decide_on_old(track, seen) if track.must_fail_on_old_code else (TaskOutcome.SUCCESS, None)
    )


def _decide_on_old(track: Track, seen: TargetResult) -> Decision:
    assert seen.old is not None, 'a new or extended test that passes was run on old code'
    if seen.old.outcome in (Outcome.UNBUILDABLE, Outcome.INFRA):
        return _ON_NEW[seen.old.outcome]
    if seen.old.outcome.is_broken:
        is_weakened = track is Track.EXTENSION and seen.weakened
        return (
            (TaskOutcome.WEAKENED, Detail.ORACLE_LOST)
            if is_weakened
            else (TaskOutcome.SUCCESS, None)
        )
    if seen.old.outcome is Outcome.MISSING:  # it was not run, which shows nothing of the old code
        return TaskOutcome.HRNS_FAIL, Detail.MISSING_ON_OLD
    return TaskOutcome.REDUNDANT, Detail.PASSES_ON_OLD


def decide_outcome_by_module(track: Track, seen: TargetResult) -> TaskOutcome:
    """Return the outcome if one file that does not compile breaks its whole module.

    That is how Maven behaves, which the paper's harness uses.
    """
    broken = Verdict(outcome=Outcome.COMPILE_ERROR)
    strict = replace(
        seen,
        new=broken if seen.new and not seen.new_module_ok else seen.new,
        old=broken if seen.old and not seen.old_module_ok else seen.old,
    )
    return decide_outcome(track, strict)[0]
