"""Where things lie in the folder of a submission."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from coevo.model.column import split_optional
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.snapshots.models import LanguageModel, find_model
from coevo.storage.bounded_json import parse_json
from coevo.storage.bounded_reading import UnreadableContent, load_file

LOGS = 'logs'
RESULTS = 'results'
# One of these holds the predictions.
PREDICTIONS = ('predictions.jsonl', 'predictions.parquet', 'predictions')


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionFolder:
    """A folder with its metadata, and where its predictions are."""

    folder: Path
    metadata: SubmissionMetadata
    predictions: Path

    @property
    def results(self) -> Path:
        return self.folder / RESULTS

    def list_tasks_without_log(self, tasks: Iterable[str]) -> tuple[str, ...]:
        """The tasks of which no file with something in it says what the agent did."""
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
    """What lies there, if it is a submission and no mere file or folder of predictions."""
    if not isinstance(place, Path) or not (place / NAME).is_file():
        return None
    return load_submission(place)


def load_submission(folder: Path) -> SubmissionFolder:
    """Fatal for a folder that has no metadata, or not exactly one file or folder of predictions."""
    metadata = load_metadata(folder)
    candidates = [folder / name for name in PREDICTIONS if (folder / name).exists()]
    if len(candidates) != 1:
        raise Fatal(
            f'{folder} has {len(candidates)} of {", ".join(PREDICTIONS)}; a submission has one of these'
        )
    return SubmissionFolder(folder=folder, metadata=metadata, predictions=candidates[0])


def _has_content(place: Path) -> bool:
    if place.is_symlink():
        return False
    if place.is_dir():
        return any(_has_content(inner) for inner in place.iterdir())
    return place.is_file() and place.stat().st_size > 0


# `submission.json`: who submits, and under which rules the answers came about.

NAME = 'submission.json'
# Raised when a field is lost or changes its meaning.
SUBMISSION_VERSION = 1

_MOST_BYTES, _MOST_VALUES = 1 << 20, 1000

_SHA256 = re.compile(r'[0-9a-f]{64}')
_URL = re.compile(r'https://[^\s/]+(/\S*)?')


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionMetadata:
    """What `submission.json` holds; `submission.schema.json` says the same to other tools.

    harness, model    as every prediction names them
    snapshot_sha256   of the manifest of the snapshot that was answered
    url               where the agent is described, or its code
    contact           whom reviewers write to
    attempts          how often the agent tried a task before it handed in; 1 is the rule
    network           whether it could reach the web while it worked on a task
    cutoff, cutoff_source  of a model that coevo does not know: its training cutoff, a day or a
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
        """The model, where its cutoff is told here and by nobody else."""
        known = find_model(self.model)
        if self.cutoff is None or self.cutoff_source is None or (known and known.cutoff):
            return ()
        return (LanguageModel(names=(self.model,), cutoff=self.cutoff, source=self.cutoff_source),)


def load_metadata(folder: Path) -> SubmissionMetadata:
    """Fatal, in one sentence, for a file that is not there or not of its schema."""
    path = folder / NAME
    try:
        content = parse_json(load_file(path, most=_MOST_BYTES), most_values=_MOST_VALUES)
    except OSError:
        raise Fatal(f'{folder} has no {NAME}; docs/submissions.md says what it holds') from None
    except UnreadableContent:
        raise Fatal(f'{path} is no JSON; docs/submissions.md says what it holds') from None
    if not isinstance(content, dict):
        raise Fatal(f'{path} is no JSON object; docs/submissions.md says what it holds')
    return _parse_metadata(content, path)


def _parse_metadata(found: dict[str, Any], path: Path) -> SubmissionMetadata:
    fields = {item.name: item for item in dataclasses.fields(SubmissionMetadata)}
    for name in found.keys() - fields.keys():
        raise Fatal(f'{path} has {name!r}, which is no field of it; take it out')
    for name, item in fields.items():
        if name not in found and item.default is dataclasses.MISSING:
            raise Fatal(f'{path} lacks {name!r}; docs/submissions.md says what it is')
    hints = get_type_hints(SubmissionMetadata)
    for name, value in found.items():
        wanted, nullable = split_optional(hints[name])
        if type(value) is not wanted and not (nullable and value is None):
            raise Fatal(f'{path}: {name} is {value!r}, which is no {_KINDS[wanted]}')
    metadata = SubmissionMetadata(**found)
    _check_metadata(metadata, path)
    return metadata


_KINDS = {int: 'whole number', str: 'text', bool: 'true or false'}


def _check_metadata(metadata: SubmissionMetadata, path: Path) -> None:
    """What types do not say."""
    if metadata.submission_version != SUBMISSION_VERSION:
        raise Fatal(f'{path} is of version {metadata.submission_version}; 1 is known')
    for name in ('harness', 'model', 'contact'):
        if not getattr(metadata, name).strip():
            raise Fatal(f'{path}: {name} is empty')
    if not _SHA256.fullmatch(metadata.snapshot_sha256):
        raise Fatal(f'{path}: snapshot_sha256 is no SHA-256; take that of manifest.json')
    for name in ('url', 'cutoff_source'):
        value = getattr(metadata, name)
        if value is not None and not _URL.fullmatch(value):
            raise Fatal(f'{path}: {name} is {value!r}, which is no address of https://')
    if metadata.attempts < 1:
        raise Fatal(f'{path}: attempts is {metadata.attempts}; it is 1 or more')
    if (metadata.cutoff is None) != (metadata.cutoff_source is None):
        raise Fatal(f'{path}: a cutoff needs its cutoff_source, and the other way round')
    if metadata.cutoff is not None:
        compute_first_clean_moment(metadata.cutoff)
