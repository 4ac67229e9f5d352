"""Graded attempts: the rows of results, joined with the answers that they grade, and their rewards."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.measuring.strict import decide_task_strict
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.predictions import load_predictions, make_gold_predictions
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.results import find_results_folder, load_results, load_suites
from coevo.evaluation.submission.folder import PREDICTIONS
from coevo.evaluation.suites.records import MaintainedOutcome, SuiteOutcome, SuiteResult
from coevo.model.errors import Fatal
from coevo.model.families import Family

# The rewards of a graded attempt at a task, and when one attempt is better than another.
#
# A reward is a number from 0 to 1, or unknown. `success` is 1 if every target is a success, or if
# every test of a suite passes and none that was to be maintained is lost; of submitted code, if the
# given tests pass and none that passed before is lost. `strict` is 1 if every target is a strict
# success, and of submitted code, if the tests that are not shown hold, too; it is unknown for
# suites, and where it cannot be asked of a target. `coverage` is the share of the lines with code
# in the changed dependencies (of a suite: in the focus) that the tests execute, and `mutants` the
# share of the released mutants that they notice; both are means over the targets, and unknown for
# code. A test that does not pass counts as 0 in all of them. Nothing is known of an attempt that
# coevo itself could not grade (`infra`).

# Digits that are written: the same share gives the same text, whatever it was computed from.
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """The rewards of an attempt; None is unknown."""

    success: float | None = None
    strict: float | None = None
    coverage: float | None = None
    mutants: float | None = None

    def to_mapping(self) -> dict[str, float | None]:
        """Return the rewards by name, in the order of the fields."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def dominates(self, other: Rewards) -> bool:
        """Return whether no reward is lower than the other's and at least one is higher.

        What is unknown on one side alone may have any value. What is unknown on both sides is not
        compared.
        """
        pairs = [
            (ours, theirs)
            for ours, theirs in zip(
                self.to_mapping().values(), other.to_mapping().values(), strict=True
            )
            if ours is not None or theirs is not None
        ]
        at_least = all(_is_surely_at_least(ours, theirs) for ours, theirs in pairs)
        return at_least and any(
            ours is not None and theirs is not None and ours > theirs for ours, theirs in pairs
        )


def _is_surely_at_least(ours: float | None, theirs: float | None) -> bool:
    """Return whether a reward is not lower than another, whatever an unknown one may be."""
    return (0.0 if ours is None else ours) >= (1.0 if theirs is None else theirs)


_LOST = (
    MaintainedOutcome.MISSED,
    MaintainedOutcome.BROKEN,
    MaintainedOutcome.WEAKENED,
    MaintainedOutcome.DELETED_WRONGLY,
)

UNKNOWN = Rewards()
"""The rewards of an attempt of which nothing is known."""


def compute_rewards(rows: Sequence[MethodResult]) -> Rewards:
    """Return the rewards of an attempt, from the rows of all of its targets."""
    if not rows or any(row.outcome is TaskOutcome.INFRA for row in rows):
        return UNKNOWN
    return Rewards(
        success=float(all(row.outcome is TaskOutcome.SUCCESS for row in rows)),
        strict=_convert_to_score(decide_task_strict(rows)),
        coverage=_average([_get_coverage(row) for row in rows]),
        mutants=_average([_get_mutation_score(row) for row in rows]),
    )


def _convert_to_score(answer: bool | None) -> float | None:
    return None if answer is None else float(answer)


def _average(shares: Sequence[float | None]) -> float | None:
    """Return the mean, None if one share is unknown."""
    known = [share for share in shares if share is not None]
    return round(math.fsum(known) / len(known), _DIGITS) if len(known) == len(shares) else None


def _get_coverage(row: MethodResult) -> float | None:
    if not row.outcome.passes_on_new:
        return 0.0
    measured = row.adequacy.coverage_pred if row.adequacy else None
    return None if measured is None else _divide(measured.covered_lines, measured.known_lines)


def _get_mutation_score(row: MethodResult) -> float | None:
    if not row.outcome.passes_on_new:
        return 0.0
    measured = row.adequacy.mutants if row.adequacy else None
    return None if measured is None else _divide(measured.pred, measured.count)


def _divide(part: int | None, whole: int | None) -> float | None:
    """Return a share, None if it is unknown or there is nothing to have a share of."""
    return None if part is None or not whole else part / whole


def compute_suite_rewards(row: SuiteResult) -> Rewards:
    """Return the rewards of an attempt at a suite."""
    if row.outcome is SuiteOutcome.INFRA:
        return UNKNOWN
    lost = any(test.outcome in _LOST for test in row.maintained or ())
    success = float(row.outcome is SuiteOutcome.SUCCESS and not lost)
    if row.family is Family.IMPLEMENT:
        return Rewards(success=success, strict=_convert_to_score(row.success_strict))
    if row.outcome not in (SuiteOutcome.SUCCESS, SuiteOutcome.PARTLY):
        return Rewards(success=success, coverage=0.0, mutants=0.0)
    worth = row.adequacy
    if worth is None:
        return Rewards(success=success)
    return Rewards(
        success=success,
        coverage=_average([_divide(worth.covered_lines, worth.lines)]),
        mutants=_average([_divide(worth.killed, worth.mutants)]),
    )


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
    known_task_ids: Collection[str],
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
        answers = {**gold, **_load_answers(folder, known_task_ids)}
        for attempt in _load_folder(folder, answers, snapshot_sha256):
            if attempt.task_id in ids:
                by_key.setdefault((*attempt.sort_key, attempt.rewards), attempt)
    return tuple(sorted(by_key.values(), key=lambda item: (item.sort_key, repr(item.rewards))))


def _load_folder(
    folder: Path, answers: Mapping[str, Prediction], snapshot_sha256: str
) -> Iterator[GradedAttempt]:
    inner = find_results_folder(folder)
    methods: dict[tuple[str, int], list[MethodResult]] = defaultdict(list)
    for row in load_results(inner):
        _require_snapshot(folder, row, snapshot_sha256)
        methods[row.task_id, row.attempt].append(row)
    for rows in methods.values():
        yield GradedAttempt(
            row=rows[0],
            answer=answers.get(rows[0].prediction_sha256),
            rewards=compute_rewards(rows),
            reasons=tuple(_make_outcome_fields(row, row.test_method) for row in rows),
        )
    for suite in load_suites(inner):
        _require_snapshot(folder, suite, snapshot_sha256)
        yield GradedAttempt(
            row=suite,
            answer=answers.get(suite.prediction_sha256),
            rewards=compute_suite_rewards(suite),
            reasons=(_make_outcome_fields(suite, None),),
        )


def _require_snapshot(folder: Path, row: MethodResult | SuiteResult, snapshot_sha256: str) -> None:
    if row.snapshot_sha256 != snapshot_sha256:
        raise Fatal(
            f'{folder} has results of another snapshot, {row.snapshot_sha256[:12]}; name results '
            f'of {snapshot_sha256[:12]}, or export the snapshot that they are of'
        )


def _make_outcome_fields(
    row: MethodResult | SuiteResult, test_method: str | None
) -> dict[str, str | None]:
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
        return _index_by_digest(load_predictions(path, known))
    if (path := _find_predictions(folder.absolute().parent)) is not None:
        with suppress(Fatal):
            return _index_by_digest(load_predictions(path, known))
    return {}


def _find_predictions(folder: Path) -> Path | None:
    return next((folder / name for name in PREDICTIONS if (folder / name).exists()), None)


def _index_by_digest(predictions: Sequence[Prediction]) -> dict[str, Prediction]:
    return {item.digest: item for item in predictions}
