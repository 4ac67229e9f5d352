"""The folder of a submission: its layout, the metadata in its `submission.json`, and the tasks that
it answers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from coevo.evaluation.assignments import list_answered_task_ids, list_wanted_ids, load_task_ids
from coevo.evaluation.records import MethodResult
from coevo.evaluation.results import NAME as METHODS, load_results, load_suites
from coevo.model.column import split_optional
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import Cutoff, LanguageModel, compute_first_clean_moment, find_model
from coevo.storage.bounded_reading import UnreadableContent, load_file, parse_json

# The layout of a submission's folder, and the metadata in its `submission.json`.

LOGS = 'logs'
RESULTS = 'results'
# One of these holds the predictions.
PREDICTIONS = ('predictions.jsonl', 'predictions.parquet', 'predictions')


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionFolder:
    """A folder of a submission with its metadata and the path of its predictions."""

    folder: Path
    metadata: SubmissionMetadata
    predictions: Path

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return self.folder / RESULTS

    def list_tasks_without_log(self, tasks: Iterable[str]) -> tuple[str, ...]:
        """Return the tasks for which there is no log, or only empty files."""
        logs_by_task = self._list_logs()
        logs = self.folder / LOGS
        return tuple(
            task_id
            for task_id in tasks
            if not any(map(_has_content, (logs / task_id, *logs_by_task.get(task_id, ()))))
        )

    def _list_logs(self) -> dict[str, list[Path]]:
        logs_by_task: dict[str, list[Path]] = {}
        folder = self.folder / LOGS
        for path in folder.iterdir() if folder.is_dir() else ():
            logs_by_task.setdefault(path.name.partition('.')[0], []).append(path)
        return logs_by_task


def find_submission(place: Path | str) -> SubmissionFolder | None:
    """Return the submission in a folder; None if the place is no folder with a `submission.json`.

    Such a place is a mere file or folder of predictions, or the word `gold`.
    """
    if not isinstance(place, Path) or not (place / NAME).is_file():
        return None
    return load_submission(place)


def load_submission(folder: Path) -> SubmissionFolder:
    """Return the submission in a folder.

    Raises: Fatal if it has no metadata, or not exactly one file or folder of predictions.
    """
    metadata = load_metadata(folder)
    candidates = [folder / name for name in PREDICTIONS if (folder / name).exists()]
    if len(candidates) != 1:
        raise Fatal(
            f'{folder} has {len(candidates)} of {", ".join(PREDICTIONS)}; keep exactly one of '
            'these files'
        )
    return SubmissionFolder(folder=folder, metadata=metadata, predictions=candidates[0])


def _has_content(place: Path) -> bool:
    if place.is_symlink():
        return False
    if place.is_dir():
        return any(_has_content(inner) for inner in place.iterdir())
    return place.is_file() and place.stat().st_size > 0


# `submission.json`: who submits, and under which rules the answers were made.

NAME = 'submission.json'
# Increased when a field is removed or changes its meaning.
SUBMISSION_VERSION = 1

_MOST_BYTES, _MOST_VALUES = 1 << 20, 1000

_SHA256 = re.compile(r'[0-9a-f]{64}')
_URL = re.compile(r'https://[^\s/]+(/\S*)?')


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionMetadata:
    """The content of `submission.json`; `submission.schema.json` describes it for other tools.

    harness, model         as every prediction names them
    snapshot_sha256        of the manifest of the snapshot that was answered
    url                    a page with a description of the agent, or its code
    contact                the address for reviewers
    attempts               how often the agent tried a task before it submitted; the rule is 1
    network                whether the agent could reach the web while it worked on a task
    cutoff, cutoff_source  for a model that coevo does not know: its training cutoff, a day or a
                           month, and a public page that states it
    """

    submission_version: int
    harness: str
    model: str
    snapshot_sha256: str
    url: str
    contact: str
    attempts: int
    network: bool
    cutoff: str | None = None
    cutoff_source: str | None = None

    @property
    def extra_models(self) -> tuple[LanguageModel, ...]:
        """The model with its cutoff if coevo does not know the cutoff and the submission states it.

        Empty in all other cases.
        """
        known = find_model(self.model)
        if self.cutoff is None or self.cutoff_source is None or (known and known.cutoff):
            return ()
        return (LanguageModel(names=(self.model,), cutoff=self.cutoff, source=self.cutoff_source),)


def load_metadata(folder: Path) -> SubmissionMetadata:
    """Return the metadata of a submission.

    Raises: Fatal if the file is missing or does not follow its schema.
    """
    path = folder / NAME
    try:
        content = parse_json(load_file(path, most=_MOST_BYTES), most_values=_MOST_VALUES)
    except OSError:
        raise Fatal(f'{folder} has no {NAME}; `coevo submit --new {folder}` writes it') from None
    except UnreadableContent:
        raise Fatal(f'{path} is not valid JSON; docs/scoring.md describes its fields') from None
    if not isinstance(content, dict):
        raise Fatal(f'{path} is not a JSON object; docs/scoring.md describes its fields')
    return parse_metadata(content, path)


def parse_metadata(found: dict[str, Any], path: Path) -> SubmissionMetadata:
    """Return the metadata that the fields of a file state.

    path  the file, for messages
    Raises: Fatal if the fields do not follow the schema.
    """
    fields = {item.name: item for item in dataclasses.fields(SubmissionMetadata)}
    for name in found.keys() - fields.keys():
        raise Fatal(f'{path} has {name!r}, which is not a field of a submission; remove it')
    for name, item in fields.items():
        if name not in found and item.default is dataclasses.MISSING:
            raise Fatal(f'{path} lacks {name!r}; docs/scoring.md describes it')
    hints = get_type_hints(SubmissionMetadata)
    for name, value in found.items():
        wanted, nullable = split_optional(hints[name])
        if type(value) is not wanted and not (nullable and value is None):
            raise Fatal(f'{path}: {name} is {value!r}, not {_KINDS[wanted]}')
    metadata = SubmissionMetadata(**found)
    _check_metadata(metadata, path)
    return metadata


_KINDS = {int: 'a whole number', str: 'a text', bool: 'true or false'}


def _check_metadata(metadata: SubmissionMetadata, path: Path) -> None:
    """Check the rules that types cannot express.

    Raises: Fatal if one is broken.
    """
    if metadata.submission_version != SUBMISSION_VERSION:
        raise Fatal(f'{path} has version {metadata.submission_version}; this coevo reads version 1')
    for name in ('harness', 'model', 'contact'):
        if not getattr(metadata, name).strip():
            raise Fatal(f'{path}: {name} is empty')
    if not _SHA256.fullmatch(metadata.snapshot_sha256):
        raise Fatal(
            f"{path}: snapshot_sha256 is not a SHA-256; use the SHA-256 of the snapshot's "
            'manifest.json'
        )
    for name in ('url', 'cutoff_source'):
        value = getattr(metadata, name)
        if value is not None and not _URL.fullmatch(value):
            raise Fatal(f'{path}: {name} is {value!r}, which is not an https:// address')
    if metadata.attempts < 1:
        raise Fatal(f'{path}: attempts is {metadata.attempts}; it must be 1 or more')
    if (metadata.cutoff is None) != (metadata.cutoff_source is None):
        raise Fatal(f'{path}: cutoff and cutoff_source belong together; give both or neither')
    if metadata.cutoff is not None:
        compute_first_clean_moment(metadata.cutoff)


# The tasks of a submission, and those of its snapshot that it leaves out.


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
