"""The graded attempts in folders of runs: each answer with its rewards, and pairs of answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.results import NAME as METHODS, load_results
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.results import NAME as SUITES, load_suites
from coevo.exports.rewards import Rewards, compute_rewards, compute_suite_rewards
from coevo.model.errors import Fatal

_ANSWERS, _RESULTS = 'predictions.jsonl', 'results'


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedAttempt:
    """An answer to a task with its rewards.

    outcomes  the outcome of each target, with the detail where it is no success, by its name; of a
              suite one outcome under the name `suite`
    """

    prediction: Prediction
    rewards: Rewards
    outcomes: dict[str, str]

    @property
    def answer(self) -> str:
        """The answer as text: a unified diff, or the whole test file."""
        content = self.prediction.patch if self.prediction.file is None else self.prediction.file
        return (content or b'').decode('utf-8', 'replace')

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """The key by which attempts are sorted: task, model, harness, number and digest."""
        answer = self.prediction
        return (
            answer.task_id,
            answer.model or '',
            answer.harness or '',
            answer.attempt,
            answer.digest,
        )


def load_graded_attempts(
    folders: Iterable[Path], task_ids: Collection[str], snapshot_sha256: str
) -> tuple[GradedAttempt, ...]:
    """Return the graded answers of runs to the tasks, sorted by task, model and number.

    folders          each as `coevo run` or a submission has it: predictions.jsonl and results/
    snapshot_sha256  of the release that the results must be about

    Raises: Fatal if a folder lacks a part, or has results of another snapshot.
    """
    attempts = [
        attempt
        for folder in folders
        for attempt in _load_folder(folder, task_ids, snapshot_sha256)
        if attempt.prediction.task_id in task_ids
    ]
    return tuple(sorted(attempts, key=lambda attempt: attempt.key))


def _load_folder(
    folder: Path, task_ids: Collection[str], snapshot_sha256: str
) -> Iterator[GradedAttempt]:
    answers, results = folder / _ANSWERS, folder / _RESULTS
    if not answers.is_file() or not any((results / name).is_file() for name in (METHODS, SUITES)):
        raise Fatal(
            f'{folder} lacks {_ANSWERS} or {_RESULTS}; name the --out of a `coevo run`, or grade '
            f'its answers first: `coevo evaluate SNAPSHOT {answers} --out {results}`'
        )
    methods = load_results(results) if (results / METHODS).is_file() else ()
    by_answer: dict[tuple[str, str], list[MethodResult]] = defaultdict(list)
    for row in methods:
        by_answer[row.task_id, row.prediction_sha256].append(row)
    suites = {(row.task_id, row.prediction_sha256): row for row in load_suites(results)}
    graded: list[MethodResult | SuiteResult] = [*methods, *suites.values()]
    if any(row.snapshot_sha256 != snapshot_sha256 for row in graded):
        raise Fatal(
            f'{results} is about another snapshot than the one to export; name the snapshot that the '
            'run was made with'
        )
    known = {*task_ids, *(row.task_id for row in graded)}
    for prediction in load_predictions(answers, known):
        key = (prediction.task_id, prediction.digest)
        attempt = _make_attempt(prediction, by_answer.get(key, ()), suites.get(key))
        if attempt is not None:
            yield attempt


def _make_attempt(
    prediction: Prediction, rows: Sequence[MethodResult], suite: SuiteResult | None
) -> GradedAttempt | None:
    """Return an answer with its rewards; None if it has none, or was not graded."""
    if prediction.patch is None and prediction.file is None:
        return None
    if suite is not None:
        rewards, outcomes = compute_suite_rewards(suite), {'suite': str(suite.outcome)}
    else:
        first = [row for row in rows if row.attempt == prediction.attempt] or rows
        rewards = compute_rewards(first)
        outcomes = {
            row.test_method: ': '.join(filter(None, (row.outcome, row.detail))) for row in first
        }
    if rewards is None:
        return None
    return GradedAttempt(prediction=prediction, rewards=rewards, outcomes=outcomes)


def pair_attempts(
    attempts: Iterable[GradedAttempt],
) -> Iterator[tuple[GradedAttempt, GradedAttempt]]:
    """Yield pairs of attempts at one task, the better one first.

    An attempt is better if it alone succeeds, or if both succeed and it alone does so strictly.
    Coverage and mutants decide no pair. Equal answers are one attempt.
    """
    by_task: dict[str, dict[str, GradedAttempt]] = defaultdict(dict)
    for attempt in attempts:
        by_task[attempt.prediction.task_id].setdefault(attempt.prediction.digest, attempt)
    for _, of_task in sorted(by_task.items()):
        for one, other in combinations(of_task.values(), 2):
            if one.rewards.rank != other.rewards.rank:
                better, worse = sorted((one, other), key=lambda each: each.rewards.rank)[::-1]
                yield better, worse
