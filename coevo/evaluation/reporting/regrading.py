"""`coevo regrade DIR`: grade stored results again, without running anything.

What was seen of every method stands in its row, so its outcome follows again, by the rules that this
coevo has; then the report. Suites stay as they were judged. Under the rules that made them, all files keep their bytes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import TargetResult, decide_outcome, decide_outcome_by_module
from coevo.evaluation.junit_xml import write_junit
from coevo.evaluation.measuring.strict import set_flags
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import load_results, write_results
from coevo.evaluation.suites.results import load_suites
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome

# Of what never came to be run, the reason stands: trouble of ours, or the patch's.
_TROUBLES = (
    Detail.NO_REPOSITORY,
    Detail.NOT_BUILT,
    Detail.START_STATE,
    Detail.PRECONDITION,
    Detail.TROUBLE,
    Detail.BUG,
)


def regrade(folder: Path) -> Report:
    """Write `report.json` anew, and the rest where outcomes are others; Fatal without results."""
    stored = load_results(folder)
    graded = tuple(map(regrade_row, stored))
    if graded != stored:
        write_results(folder, graded)
        write_junit(folder, graded)
    return write_report(folder, graded, load_suites(folder))


def regrade_row(row: MethodResult) -> MethodResult:
    """The row with the outcomes that follow from what was seen, and what follows from these."""
    seen = _restore_result(row)
    outcome, detail = decide_outcome(row.track, seen)
    by_module = decide_outcome_by_module(row.track, seen)
    return set_flags(replace(row, outcome=outcome, detail=detail, outcome_by_module=by_module))


def _restore_result(row: MethodResult) -> TargetResult:
    """What `coevo.evaluation.rows` made the row of, as far as outcomes follow from it."""
    if not row.injected and row.detail not in (None, Detail.TARGET_MISSING):
        reason = Refusal(detail=row.detail, message=row.said)
        return (
            TargetResult(trouble=reason)
            if row.detail in _TROUBLES
            else TargetResult(refusal=reason)
        )
    return TargetResult(
        submitted=row.injected,
        precondition=row.precondition,
        unstable=row.unstable,
        new=Verdict(outcome=row.new, tampered=row.tampered) if row.new else None,
        new_module_ok=row.module_compiled,
        old=Verdict(outcome=row.old) if row.old else None,
        old_module_ok=row.old_by_module is not Outcome.COMPILE_ERROR,
    )
