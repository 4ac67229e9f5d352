"""`coevo submit --check FOLDER`: what is wrong with a submission, without running anything.

What a check cannot say is whether the results are true: `coevo evaluate SNAPSHOT FOLDER` judges the
same predictions again and compares `outcomes_sha256`.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.evaluation.assignments import known_tasks
from coevo.evaluation.predictions import read_predictions
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.reporting import report
from coevo.evaluation.reporting.regrading import regraded
from coevo.evaluation.results import read_results
from coevo.evaluation.submission.folder import Submission
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.results import read_suites
from coevo.evaluation.verified import verified
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot
from coevo.snapshots.models import lookup

_Row = MethodResult | SuiteResult

# Of what there may be thousands of, a person is told the first few.
MOST_TOLD = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionFindings:
    """What is wrong, in sentences, and what a reviewer should know; good where nothing is wrong."""

    wrong: Sequence[str]
    notes: Sequence[str]


def check(submission: Submission, place: str | None = None) -> SubmissionFindings:
    """Whether a submission can be judged again, and says what its own results say.

    place  the snapshot; None checks ids of tasks against the results alone
    """
    wrong: list[str] = []
    try:
        rows = read_results(submission.results)
        suites = read_suites(submission.results)
        judged: list[_Row] = [*rows, *suites]
        known = _known(place) if place else frozenset(row.task_id for row in judged)
        found = read_predictions(submission.predictions, known)
        wrong += _snapshot(submission, judged, place)
        wrong += _attempts(found)
        wrong += _names(submission, found)
        wrong += _logs(submission, found)
        wrong += _answers(judged, found)
        wrong += _cutoff(submission, rows)
        wrong += _report(submission, rows, suites)
    except Fatal as error:
        wrong.append(str(error))
        return SubmissionFindings(wrong=wrong, notes=())
    return SubmissionFindings(wrong=wrong, notes=tuple(_notes(submission, rows, suites)))


def _known(place: str) -> frozenset[str]:
    with snapshot.reading((place,)):
        return known_tasks(snapshot.attach((place,)))


def _snapshot(submission: Submission, rows: Sequence[_Row], place: str | None) -> Iterator[str]:
    said = submission.metadata.snapshot_sha256
    if {row.snapshot_sha256 for row in rows} != {said}:
        yield f'the results are of another snapshot than submission.json says ({said[:16]})'
    if place is not None and verified(place) != said:
        yield f'{place} is another snapshot than submission.json says ({said[:16]})'


def _names(submission: Submission, found: Sequence[Prediction]) -> Iterator[str]:
    metadata = submission.metadata
    for one in found[: MOST_TOLD * 1000]:
        if (one.harness, one.model) != (metadata.harness, metadata.model):
            yield (
                f'the prediction for {one.task_id} is by {one.harness!r} with {one.model!r}, and '
                f'submission.json says {metadata.harness!r} with {metadata.model!r}'
            )
            return


def _attempts(found: Sequence[Prediction]) -> Iterator[str]:
    most = max(found, key=lambda one: one.attempt)
    if most.attempt > 1:
        yield (
            f'the predictions have {most.attempt} attempts at {most.task_id}; a submission has one '
            'answer to each task'
        )


def _logs(submission: Submission, found: Sequence[Prediction]) -> Iterator[str]:
    missing = submission.without_log(one.task_id for one in found)
    if missing:
        more = f' and {len(missing) - MOST_TOLD} more' if len(missing) > MOST_TOLD else ''
        yield f'logs/ has nothing of {", ".join(missing[:MOST_TOLD])}{more}'


def _answers(rows: Sequence[_Row], found: Sequence[Prediction]) -> Iterator[str]:
    """Whether the results are those of these predictions."""
    answers: Mapping[str, Prediction] = {one.task_id: one for one in found}
    tasks = {row.task_id: row.prediction_sha256 for row in rows}
    for task_id in sorted(answers.keys() - tasks.keys()):
        yield f'the results lack task {task_id}, which the predictions answer'
        return
    for task_id, digest in sorted(tasks.items()):
        answer = answers.get(task_id, Prediction(task_id=task_id, patch=None))
        if answer.digest != digest:
            yield f'the results judge another patch for {task_id} than the predictions hold'
            return


def _cutoff(submission: Submission, rows: Sequence[MethodResult]) -> Iterator[str]:
    metadata = submission.metadata
    known = lookup(metadata.model)
    if known and known.cutoff and metadata.cutoff not in (None, known.cutoff):
        yield (
            f'submission.json says that the training cutoff of {metadata.model} is '
            f'{metadata.cutoff}; {known.source} says {known.cutoff}'
        )
        return
    cutoff = known.cutoff if known and known.cutoff else metadata.cutoff
    if any(row.model_cutoff != cutoff for row in rows if row.model == metadata.model):
        yield (
            f'the results have another training cutoff of {metadata.model} than {cutoff}; '
            'evaluate the folder again'
        )


def _report(
    submission: Submission, rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> Iterator[str]:
    """Whether the report follows from the rows, by the rules at hand."""
    if any(regraded(row) != row for row in rows):
        yield 'the outcomes in results.parquet do not follow from what it says was seen'
    claimed = (submission.results / report.NAME).read_bytes()
    if claimed != report.encode(report.make_report(rows, suites)):
        yield 'report.json does not follow from results.parquet; `coevo regrade` writes it anew'


def _notes(
    submission: Submission, rows: Sequence[MethodResult], suites: Sequence[SuiteResult]
) -> Iterator[str]:
    made = report.make_report(rows, suites)
    yield f'predictions_sha256 {made.predictions_sha256}'
    yield f'outcomes_sha256 {made.outcomes_sha256}'
    yield f'{made.exposure.clean} of {made.tasks} tasks are clean for the model'
    if not any(row.model_cutoff for row in rows):
        yield (
            f'no source states a training cutoff of {submission.metadata.model}: the leaderboard '
            'does not score it'
        )
    if submission.metadata.attempts > 1:
        yield f'{submission.metadata.attempts} attempts at each task, where the rule is 1'
    if submission.metadata.network:
        yield 'the agent could reach the web'
