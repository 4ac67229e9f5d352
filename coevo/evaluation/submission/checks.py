"""Checks of a submission: faults found without running anything, and a second evaluation compared
with its results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import list_task_ids
from coevo.evaluation.options import verify_and_get_sha256
from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.records import Key, MethodResult, Prediction
from coevo.evaluation.reporting import report
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.regrading import regrade_row
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.results import NAME, load_results, load_suites
from coevo.evaluation.submission.drafting import describe_missing_cutoff
from coevo.evaluation.submission.folder import SubmissionFolder, describe_coverage
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot
from coevo.snapshots.cutoffs import find_model
from coevo.snapshots.manifests import refuse_private
from coevo.snapshots.snapshot import load_manifest

_Row = MethodResult | SuiteResult

# The most items that are listed, since there may be thousands.
MOST_FAULTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionFindings:
    """The faults of a submission, in sentences, and notes for a reviewer."""

    wrong: Sequence[str]
    notes: Sequence[str]


def check_submission(submission: SubmissionFolder, place: str | None = None) -> SubmissionFindings:
    """Find the faults of a submission: can it be judged again, and are its own results consistent?

    Faults that make further checks impossible are returned like all others.
    place  the snapshot; None: task ids are checked against the results only
    """
    wrong: list[str] = []
    try:
        rows = load_results(submission.results)
        suites = load_suites(submission.results)
        judged: list[_Row] = [*rows, *suites]
        known = _load_task_ids(place) if place else frozenset(row.task_id for row in judged)
        predictions = load_predictions(submission.predictions, known)
        wrong += _find_snapshot_faults(submission, judged, place)
        wrong += _find_attempt_faults(predictions)
        wrong += _find_name_faults(submission, predictions)
        wrong += _find_log_faults(submission, predictions)
        wrong += _find_prediction_faults(judged, predictions)
        wrong += _find_cutoff_faults(submission, rows)
        wrong += _find_report_faults(submission, rows, suites)
    except Fatal as error:
        wrong.append(str(error))
        return SubmissionFindings(wrong=wrong, notes=())
    except OSError as error:
        wrong.append(_describe_unreadable_file(submission, error))
        return SubmissionFindings(wrong=wrong, notes=())
    notes = [*_list_notes(submission, rows, suites)]
    if place and not wrong:
        tasks = frozenset(row.task_id for row in judged)
        notes.append(describe_coverage(submission.metadata, rows, tasks, place))
    return SubmissionFindings(wrong=wrong, notes=notes)


def _describe_unreadable_file(submission: SubmissionFolder, error: OSError) -> str:
    name = error.filename or submission.folder
    return f'{name} cannot be read ({error.strerror}); a submission needs it: docs/scoring.md'


def _load_task_ids(place: str) -> frozenset[str]:
    with snapshot.translate_read_errors((place,)):
        return list_task_ids(snapshot.attach_snapshots((place,)))


def _find_snapshot_faults(
    submission: SubmissionFolder, rows: Sequence[_Row], place: str | None
) -> Iterator[str]:
    declared_sha256 = submission.metadata.snapshot_sha256
    if {row.snapshot_sha256 for row in rows} != {declared_sha256}:
        yield (
            'the results belong to another snapshot than submission.json names '
            f'({declared_sha256[:16]})'
        )
    if place is not None:
        refuse_private(load_manifest(place), place, 'taken for a submission')
    if place is not None and verify_and_get_sha256(place) != declared_sha256:
        yield f'{place} is another snapshot than submission.json names ({declared_sha256[:16]})'


def _find_name_faults(submission: SubmissionFolder, found: Sequence[Prediction]) -> Iterator[str]:
    metadata = submission.metadata
    for prediction in found[: MOST_FAULTS * 1000]:
        if (prediction.harness, prediction.model) != (metadata.harness, metadata.model):
            yield (
                f'the prediction for {prediction.task_id} is by {prediction.harness!r} with {prediction.model!r}, and '
                f'submission.json says {metadata.harness!r} with {metadata.model!r}'
            )
            return


def _find_attempt_faults(found: Sequence[Prediction]) -> Iterator[str]:
    most = max(found, key=lambda one: one.attempt)
    if most.attempt > 1:
        yield (
            f'the predictions have {most.attempt} attempts at {most.task_id}; a submission '
            'may have only one answer to each task'
        )


def _find_log_faults(submission: SubmissionFolder, found: Sequence[Prediction]) -> Iterator[str]:
    missing = submission.list_tasks_without_log(prediction.task_id for prediction in found)
    if missing:
        more = f' and {len(missing) - MOST_FAULTS} more' if len(missing) > MOST_FAULTS else ''
        yield f'logs/ has no log for {", ".join(missing[:MOST_FAULTS])}{more}'


def _find_prediction_faults(rows: Sequence[_Row], found: Sequence[Prediction]) -> Iterator[str]:
    """Yield a fault if the results are not those of these predictions."""
    answers: Mapping[str, Prediction] = {prediction.task_id: prediction for prediction in found}
    tasks = {row.task_id: row.prediction_sha256 for row in rows}
    for task_id in sorted(answers.keys() - tasks.keys()):
        yield f'the results lack task {task_id}, which the predictions answer'
        return
    for task_id, digest in sorted(tasks.items()):
        answer = answers.get(task_id, Prediction(task_id=task_id, patch=None))
        if answer.digest != digest:
            yield f'the results grade another patch for {task_id} than the predictions contain'
            return


def _find_cutoff_faults(
    submission: SubmissionFolder, rows: Sequence[MethodResult]
) -> Iterator[str]:
    metadata = submission.metadata
    known = find_model(metadata.model)
    if known and known.cutoff and metadata.cutoff not in (None, known.cutoff):
        yield (
            f'submission.json says that the training cutoff of {metadata.model} is '
            f'{metadata.cutoff}; {known.source} says {known.cutoff}'
        )
        return
    cutoff = known.cutoff if known and known.cutoff else metadata.cutoff
    if any(row.model_cutoff != cutoff for row in rows if row.model == metadata.model):
        yield (
            f'the results use another training cutoff of {metadata.model} than {cutoff}; run '
            '`coevo evaluate SNAPSHOT FOLDER --out NEW` and put what it writes into results/'
        )


def _find_report_faults(
    submission: SubmissionFolder, rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> Iterator[str]:
    """Yield faults if the report or the outcomes do not follow from the rows."""
    if any(regrade_row(row) != row for row in rows):
        yield (
            'the outcomes in results.parquet contradict the observations that it records; '
            'evaluate again'
        )
    path = submission.results / report.NAME
    if not path.is_file():
        yield f'{submission.results} has no {report.NAME}; `coevo report regrade` writes it again'
        return
    claimed = path.read_bytes()
    if claimed != report.encode_report(report.make_report(rows, suites)):
        yield (
            'report.json does not follow from results.parquet; `coevo report regrade` writes it '
            'again'
        )


def _list_notes(
    submission: SubmissionFolder, rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> Iterator[str]:
    new_report = report.make_report(rows, suites)
    yield f'predictions_sha256 {new_report.predictions_sha256}'
    yield f'outcomes_sha256 {new_report.outcomes_sha256}'
    yield f'{new_report.exposure.clean} of {new_report.tasks} tasks are clean for the model'
    if submission.metadata.cutoff is None and not any(row.model_cutoff for row in rows):
        missing = describe_missing_cutoff(submission.folder, submission.metadata)
        if missing is not None:
            yield missing
    if submission.metadata.attempts > 1:
        yield f'{submission.metadata.attempts} attempts at each task, but the leaderboard allows 1'
    if submission.metadata.network:
        yield 'the agent had access to the web'


# The most test methods with another outcome that are listed.
MOST_DIFFERENCES = 10


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
        yield (
            'they are results of other test methods: leave out the options that select tasks, and '
            'the tasks of the submission are graded'
        )
        return
    others = [row for row in rows if _format_outcome(row) != _format_outcome(claim.rows[row.key])]
    for row in others[:MOST_DIFFERENCES]:
        there = claim.rows[row.key]
        yield f'{row.task_id} {row.test_method}: {_format_outcome(row)} here, {_format_outcome(there)} there'
    if len(others) > MOST_DIFFERENCES:
        yield f'and {len(others) - MOST_DIFFERENCES} more'


def _format_outcome(row: MethodResult) -> str:
    return f'{row.outcome}, strict' if row.success_strict else str(row.outcome)
