"""The decision from the results of a suite to its one outcome: pure and total."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.records import (
    DemandedResult,
    MaintainedResult,
    SuiteFix,
    SuiteOutcome,
    SuiteReach,
    SuiteTest,
)
from coevo.languages.fixes import TestFailure
from coevo.model.families import SuiteAdequacy, TestRole
from coevo.model.words import Outcome

_OF_TEST = {
    Outcome.FAIL: Detail.FAIL,
    Outcome.ERROR: Detail.ERROR,
    Outcome.TIMEOUT: Detail.TIMEOUT,
    Outcome.COMPILE_ERROR: Detail.COMPILE_ERROR,
    Outcome.MISSING: Detail.TARGET_MISSING,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRunResult:
    """The results of a suite, as far as it was graded.

    trouble     trouble of coevo's own that remained after all tries
    refusal     why the whole patch is refused
    settled     an outcome that follows from the text of the file, before anything is run
    builds      whether all tests compile; None if that was not tried
    failures    what was said of each test that does not pass
    fixes       the mechanical fixes of the file; None if none were to be made
    maintained  for maintenance only, the outcome of each test of the old and the new file
    demanded    for submitted code only, the results of the tests beside the targets
    left_out    for submitted code only, the files of the patch that have no effect
    forged      for submitted code only, whether tests pass that cannot
    """

    trouble: Refusal | None = None
    refusal: Refusal | None = None
    settled: SuiteOutcome | None = None
    builds: bool | None = None
    tests: tuple[SuiteTest, ...] = ()
    failures: tuple[TestFailure, ...] = ()
    fixes: tuple[SuiteFix, ...] | None = None
    adequacy: SuiteAdequacy | None = None
    reach: SuiteReach | None = None
    maintained: tuple[MaintainedResult, ...] | None = None
    demanded: tuple[DemandedResult, ...] | None = None
    left_out: tuple[str, ...] = ()
    forged: bool = False

    @property
    def said(self) -> str:
        """A sentence for people: why it was not graded, or which files of a patch had no effect."""
        reason = self.refusal or self.trouble
        if reason is not None:
            return reason.message
        if not self.left_out:
            return ''
        more = f' and {len(self.left_out) - 1} more' if len(self.left_out) > 1 else ''
        return f'without effect, since it is no file of the code: {self.left_out[0]}{more}'


def decide_suite_outcome(seen: SuiteRunResult) -> tuple[SuiteOutcome, Detail | None]:
    """Return the outcome of a suite, with a detail if it needs one.

    If tests were run, the detail is the reason why the first test that does not pass fails. Skipped
    tests are ignored.
    """
    if seen.refusal is not None:
        empty = seen.refusal.detail is Detail.EMPTY
        return (SuiteOutcome.EMPTY if empty else SuiteOutcome.HRNS_FAIL), seen.refusal.detail
    if seen.trouble is not None:
        return SuiteOutcome.INFRA, seen.trouble.detail
    if seen.settled is not None:
        return seen.settled, None
    counted = [test for test in seen.tests if test.outcome is not Outcome.SKIPPED]
    if not counted:
        return SuiteOutcome.NO_TESTS, Detail.TARGET_DISABLED
    broken = [test for test in counted if not test.passes]
    if not broken:
        return _decide_with_passing_targets(seen)
    detail = _explain_test_failure(broken[0])
    if len(broken) < len(counted):
        return SuiteOutcome.PARTLY, detail
    if all(test.outcome is Outcome.COMPILE_ERROR for test in broken):
        return SuiteOutcome.CMPL_FAIL, detail
    return SuiteOutcome.EXEC_FAIL, detail


def _decide_with_passing_targets(seen: SuiteRunResult) -> tuple[SuiteOutcome, Detail | None]:
    """Return the outcome if all targets pass: for suites a success."""
    if seen.forged:
        return SuiteOutcome.HRNS_FAIL, Detail.TAMPERED
    lost = [test for test in seen.demanded or () if test.role is TestRole.KEPT and not test.holds]
    if lost:
        return SuiteOutcome.REGRESSION, _OF_TEST.get(lost[0].outcome, Detail.TARGET_DISABLED)
    return SuiteOutcome.SUCCESS, None


def decide_success_strict(seen: SuiteRunResult) -> bool | None:
    """Return whether submitted code also holds for tests that it was not written for.

    None for trouble of coevo's own, and for a success if there are no such tests.
    """
    outcome, _ = decide_suite_outcome(seen)
    if outcome is SuiteOutcome.INFRA:
        return None
    if outcome is not SuiteOutcome.SUCCESS:
        return False
    hidden = [test.holds for test in seen.demanded or () if not test.role.is_shown]
    return all(hidden) if hidden else None


def _explain_test_failure(test: SuiteTest) -> Detail:
    if test.tampered is not None:
        return Detail.TAMPERED
    if test.unstable is not None:
        return Detail.UNSTABLE
    return _OF_TEST[test.outcome]
