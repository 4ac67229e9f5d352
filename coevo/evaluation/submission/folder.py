"""Where things lie in the folder of a submission."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.submission.metadata import NAME, SubmissionMetadata, load_metadata
from coevo.model.errors import Fatal

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
