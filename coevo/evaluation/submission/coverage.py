"""The tasks of a submission, and those of its snapshot that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coevo.evaluation.assignments import list_answered_task_ids, list_wanted_ids, load_task_ids
from coevo.evaluation.records import MethodResult
from coevo.evaluation.results import NAME as METHODS, load_results
from coevo.evaluation.submission.folder import SubmissionFolder, SubmissionMetadata
from coevo.evaluation.suites.results import load_suites
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.models import find_model


def list_submitted_tasks(submission: SubmissionFolder, place: Path | str) -> frozenset[str] | None:
    """Return the tasks that a submission is about: those of its results, and those it answers.

    None if it has no results yet, since then every task of the snapshot counts.
    Raises: Fatal if the snapshot lacks one of them.
    """
    if not (submission.results / METHODS).is_file():
        return None
    answered = list_answered_task_ids(submission.predictions, place)
    graded = {row.task_id for row in load_results(submission.results)}
    graded |= {row.task_id for row in load_suites(submission.results)}
    for task_id in sorted(graded - load_task_ids(place)):
        raise Fatal(
            f'{place} has no task {task_id!r}, which the results of {submission.folder} grade; '
            'name the snapshot that the submission answers'
        )
    return answered | graded


def describe_coverage(
    metadata: SubmissionMetadata, rows: Sequence[MethodResult], tasks: frozenset[str], place: str
) -> str:
    """Return a sentence about the tasks that a submission leaves out.

    It counts the tasks of the snapshot that are clean for the model; without a known cutoff, all.
    """
    cutoff = find_submission_cutoff(metadata, rows)
    wanted = frozenset(list_wanted_ids(place, cutoff=Cutoff(date=cutoff) if cutoff else None))
    limit = f' that became public after {cutoff}, the training cutoff of {metadata.model},' * bool(
        cutoff
    )
    return (
        f'it is about {len(wanted & tasks)} of the {len(wanted)} tasks of {place}{limit} '
        f'and leaves out {len(wanted - tasks)}'
    )


def find_submission_cutoff(
    metadata: SubmissionMetadata, rows: Sequence[MethodResult]
) -> str | None:
    """Return the training cutoff of a submission's model: the known one, else what it states.

    None if neither says one.
    """
    known = find_model(metadata.model)
    stated = sorted({row.model_cutoff for row in rows if row.model_cutoff})
    return (known.cutoff if known else None) or metadata.cutoff or next(iter(stated), None)
