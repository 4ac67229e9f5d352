"""The decision from the results of a target to its one outcome (TestEvo-Bench, 4.1), and the result
of a whole prediction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.neighbours import NeighbourResult
from coevo.evaluation.outcomes import Detail, Placebo, TaskOutcome
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.evaluation.worth import Adequacy
from coevo.languages.verdicts import MainSources, Verdict
from coevo.model.records import TestMethod
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


@dataclass(slots=True, kw_only=True)
class GradingResult:
    """The results of all targets by name, with the cost that the targets share.

    seen      the result of each target, by name
    methods   the targets as they were submitted
    adequacy  the adequacy of the targets for which it was measured
    copying   the names of those of these targets whose file copies the changed code
    runtime   the version of the runtime that built and ran everything; None if nothing was run
    sources   the main sources that were beside the tests in every cell; None if nothing was run
    others    the neighbours, that is, other tests of the file; None if no target passes on the new
              code
    suite     the result of a suite task, which has no targets
    """

    seen: dict[str, TargetResult] = field(default_factory=dict)
    methods: Mapping[str, TestMethod] = field(default_factory=dict)
    adequacy: Mapping[str, Adequacy] = field(default_factory=dict)
    copying: frozenset[str] = frozenset()
    runtime: str | None = None
    sources: MainSources | None = None
    others: NeighbourResult | None = None
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    suite: SuiteRunResult | None = None


def make_refused_result(
    assignment: Assignment, refusal: Refusal, cpu_seconds: float = 0.0
) -> GradingResult:
    """Return the result of a patch that cannot be graded: all targets fail and nothing is run.

    For a suite that exists in the start state, and for code, an empty patch means NO_CHANGE and not
    a refusal.
    """
    if not assignment.is_graded_as_a_whole:
        seen = {target.name: TargetResult(refusal=refusal) for target in assignment.targets}
        return GradingResult(seen=seen, cpu_seconds=cpu_seconds)
    unchanged = refusal.detail is Detail.EMPTY and assignment.task.start_file_sha256 is not None
    suite = (
        SuiteRunResult(settled=SuiteOutcome.NO_CHANGE)
        if unchanged
        else SuiteRunResult(refusal=refusal)
    )
    return GradingResult(suite=suite, cpu_seconds=cpu_seconds)


def make_trouble_result(assignment: Assignment, detail: Detail, said: str) -> GradingResult:
    """Return the result for trouble of coevo's own (`infra`), which is no verdict on any target."""
    trouble = Refusal(detail=detail, message=said)
    return GradingResult(
        seen={target.name: TargetResult(trouble=trouble) for target in assignment.targets},
        suite=SuiteRunResult(trouble=trouble) if assignment.is_graded_as_a_whole else None,
    )
