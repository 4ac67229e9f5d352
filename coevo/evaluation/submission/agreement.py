"""The comparison of a second evaluation with the results that a submission contains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.records import Key, MethodResult
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.results import NAME, load_results
from coevo.evaluation.submission.folder import SubmissionFolder
from coevo.evaluation.suites.results import load_suites

# The most test methods with another outcome that are listed.
MOST_TOLD = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The results that a submission states for its predictions."""

    outcomes_sha256: str
    tasks_sha256: str
    rows: Mapping[Key, MethodResult]


def load_claim(submission: SubmissionFolder, out: Path | None = None) -> Claim | None:
    """Return the results that a submission states for its predictions.

    None if it has no results yet, or if `out` is the folder of its results, which is to be
    rewritten.
    """
    if not (submission.results / NAME).is_file():
        return None
    if out is not None and out.resolve() == submission.results.resolve():
        return None
    rows = load_results(submission.results)
    report = make_report(rows, load_suites(submission.results))
    return Claim(
        outcomes_sha256=report.outcomes_sha256,
        tasks_sha256=report.tasks_sha256,
        rows={row.key: row for row in rows},
    )


def compare_with_claim(claim: Claim, report: Report, rows: Sequence[MethodResult]) -> Iterator[str]:
    """Yield sentences for a reviewer: whether the outcomes agree, and which test methods differ."""
    if claim.outcomes_sha256 == report.outcomes_sha256:
        yield f'the outcomes match the submission: {report.outcomes_sha256}'
        return
    yield (
        f'the outcomes differ from those of the submission: {report.outcomes_sha256} here, '
        f'{claim.outcomes_sha256} there'
    )
    if claim.tasks_sha256 != report.tasks_sha256:
        yield 'they are results of other test methods; select the same tasks as the submission'
        return
    others = [row for row in rows if _format_outcome(row) != _format_outcome(claim.rows[row.key])]
    for row in others[:MOST_TOLD]:
        there = claim.rows[row.key]
        yield f'{row.task_id} {row.test_method}: {_format_outcome(row)} here, {_format_outcome(there)} there'
    if len(others) > MOST_TOLD:
        yield f'and {len(others) - MOST_TOLD} more'


def _format_outcome(row: MethodResult) -> str:
    return f'{row.outcome}, strict' if row.success_strict else str(row.outcome)
