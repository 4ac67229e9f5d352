"""Where things lie in the folder of a submission."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.submission.metadata import NAME
from coevo.evaluation.submission.metadata import SubmissionMetadata
from coevo.evaluation.submission.metadata import read_metadata
from coevo.model.errors import Fatal

LOGS = 'logs'
RESULTS = 'results'
# One of these holds the predictions.
PREDICTIONS = ('predictions.jsonl', 'predictions.parquet', 'predictions')


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A folder with its metadata, and where its predictions are."""

    folder: Path
    metadata: SubmissionMetadata
    predictions: Path

    @property
    def results(self) -> Path:
        return self.folder / RESULTS

    def without_log(self, tasks: Iterable[str]) -> tuple[str, ...]:
        """The tasks of which no file with something in it says what the agent did."""
        found = self._logs()
        logs = self.folder / LOGS
        return tuple(
            task_id
            for task_id in tasks
            if not any(map(_has_content, (logs / task_id, *found.get(task_id, ()))))
        )

    def _logs(self) -> dict[str, list[Path]]:
        found: dict[str, list[Path]] = {}
        folder = self.folder / LOGS
        for path in folder.iterdir() if folder.is_dir() else ():
            found.setdefault(path.name.partition('.')[0], []).append(path)
        return found


def submission_of(place: Path | str) -> Submission | None:
    """What lies there, if it is a submission and no mere file or folder of predictions."""
    if not isinstance(place, Path) or not (place / NAME).is_file():
        return None
    return read_submission(place)


def read_submission(folder: Path) -> Submission:
    """Fatal for a folder that has no metadata, or not exactly one file or folder of predictions."""
    metadata = read_metadata(folder)
    found = [folder / name for name in PREDICTIONS if (folder / name).exists()]
    if len(found) != 1:
        raise Fatal(
            f'{folder} has {len(found)} of {", ".join(PREDICTIONS)}; a submission has one of these'
        )
    return Submission(folder=folder, metadata=metadata, predictions=found[0])


def _has_content(place: Path) -> bool:
    if place.is_symlink():
        return False
    if place.is_dir():
        return any(_has_content(inner) for inner in place.iterdir())
    return place.is_file() and place.stat().st_size > 0
