"""Graded attempts: the rows of results, joined with the answers that they were given for.

Results do not hold answers. They are found in the folder of a `coevo run` or of a submission, or
beside the folder of results; each is recognised by the checksum that its row has. The developers'
own patches need no file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.gold_patches import make_gold_predictions
from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.results import find_results, load_results
from coevo.evaluation.submission.folder import PREDICTIONS
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.results import load_suites
from coevo.exports.rewards import Rewards, compute_rewards, compute_suite_rewards
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedAttempt:
    """An attempt at a task with its rewards.

    answer   what was handed in; None if no answer with the checksum of the rows was found
    reasons  for each target (of a suite: for the suite) what became of it and why
    row      one of its rows, for what all of them have in common
    """

    row: MethodResult | SuiteResult
    answer: Prediction | None
    rewards: Rewards
    reasons: tuple[Mapping[str, str | None], ...]

    @property
    def task_id(self) -> str:
        """The task that was attempted."""
        return self.row.task_id

    @property
    def sort_key(self) -> tuple[str, str, str, int, str]:
        """The key by which attempts are sorted: task, model, harness, number, answer."""
        row = self.row
        return (
            row.task_id,
            row.model or '',
            row.harness or '',
            row.attempt,
            row.prediction_sha256,
        )


def load_attempts(
    folders: Sequence[Path],
    wanted: Sequence[Assignment],
    known: Collection[str],
    snapshot_sha256: str,
) -> tuple[GradedAttempt, ...]:
    """Return the graded attempts at the wanted tasks, sorted; equal ones in two folders once.

    folders  what `coevo run --out` or `coevo evaluate --out` wrote
    known    the ids of all tasks of the snapshot

    Raises: Fatal if a folder has no results, or has results of another snapshot.
    """
    ids = {item.task_id for item in wanted}
    gold = {item.digest: item for item in make_gold_predictions(wanted)}
    by_key: dict[tuple[object, ...], GradedAttempt] = {}
    for folder in folders:
        answers = {**gold, **_load_answers(folder, known)}
        for attempt in _load_folder(folder, answers, snapshot_sha256):
            if attempt.task_id in ids:
                by_key.setdefault((*attempt.sort_key, attempt.rewards), attempt)
    return tuple(sorted(by_key.values(), key=lambda item: (item.sort_key, repr(item.rewards))))


def _load_folder(
    folder: Path, answers: Mapping[str, Prediction], snapshot_sha256: str
) -> Iterator[GradedAttempt]:
    inner = find_results(folder)
    methods: dict[tuple[str, int], list[MethodResult]] = defaultdict(list)
    for row in load_results(inner):
        _require_snapshot(folder, row, snapshot_sha256)
        methods[row.task_id, row.attempt].append(row)
    for rows in methods.values():
        yield GradedAttempt(
            row=rows[0],
            answer=answers.get(rows[0].prediction_sha256),
            rewards=compute_rewards(rows),
            reasons=tuple(_explain(row, row.test_method) for row in rows),
        )
    for suite in load_suites(inner):
        _require_snapshot(folder, suite, snapshot_sha256)
        yield GradedAttempt(
            row=suite,
            answer=answers.get(suite.prediction_sha256),
            rewards=compute_suite_rewards(suite),
            reasons=(_explain(suite, None),),
        )


def _require_snapshot(folder: Path, row: MethodResult | SuiteResult, snapshot_sha256: str) -> None:
    if row.snapshot_sha256 != snapshot_sha256:
        raise Fatal(
            f'{folder} has results of another snapshot, {row.snapshot_sha256[:12]}; name results '
            f'of {snapshot_sha256[:12]}, or export the snapshot that they are of'
        )


def _explain(row: MethodResult | SuiteResult, test_method: str | None) -> dict[str, str | None]:
    return {
        'test_method': test_method,
        'outcome': str(row.outcome),
        'detail': None if row.detail is None else str(row.detail),
        'said': row.said,
    }


def _load_answers(folder: Path, known: Collection[str]) -> dict[str, Prediction]:
    """Return the answers in a folder, else those beside it, by their checksums.

    What lies beside it may be of another snapshot, and is then no answer.
    """
    if (path := _find_predictions(folder)) is not None:
        return _index(load_predictions(path, known))
    if (path := _find_predictions(folder.absolute().parent)) is not None:
        with suppress(Fatal):
            return _index(load_predictions(path, known))
    return {}


def _find_predictions(folder: Path) -> Path | None:
    return next((folder / name for name in PREDICTIONS if (folder / name).exists()), None)


def _index(predictions: Sequence[Prediction]) -> dict[str, Prediction]:
    return {item.digest: item for item in predictions}
