"""`coevo report regrade DIR`: grades stored results again, without running anything.

The row of each method holds its results, so its outcome is decided again by the rules of this
coevo, and the report is written. Suites keep their outcomes. If the rules are unchanged, all files
keep their bytes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import TargetResult, decide_outcome, decide_outcome_by_module
from coevo.evaluation.measuring.strict import add_strictness_flags, preserves_oracle
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import load_results, load_suites, write_junit, write_results
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome

# Details that mean trouble of coevo's own. For methods that were never run they are kept, like
# details that refuse the patch.
_TROUBLES = (
    Detail.NO_REPOSITORY,
    Detail.RUNTIME_MISSING,
    Detail.NOT_BUILT,
    Detail.START_STATE,
    Detail.PRECONDITION,
    Detail.TROUBLE,
    Detail.BUG,
)


def regrade(folder: Path) -> Report:
    """Decide the outcomes of stored results again, and write `report.json`.

    The other files of results are written only if a row changes.
    Raises: Fatal if there are no results.
    """
    stored = load_results(folder)
    graded = tuple(map(regrade_row, stored))
    if graded != stored:
        write_results(folder, graded)
        write_junit(folder, graded)
    return write_report(folder, graded, load_suites(folder))


def regrade_row(row: MethodResult) -> MethodResult:
    """Return the row with its outcomes, and the flags that follow from them, decided again."""
    seen = _restore_result(row)
    outcome, detail = decide_outcome(row.track, seen)
    by_module = decide_outcome_by_module(row.track, seen)
    return add_strictness_flags(
        replace(row, outcome=outcome, detail=detail, outcome_by_module=by_module)
    )


def _restore_result(row: MethodResult) -> TargetResult:
    """Return the result from which the row was made, as far as outcomes depend on it."""
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
        weakened=preserves_oracle(row.adequacy) is False,
    )
