"""The rules for several predictions of one task: their numbers and protocols must fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.records import Prediction
from coevo.model.errors import Fatal

# A limit far above the number of attempts that anyone makes.
MOST_ATTEMPTS = 1000


def check_attempt_numbers(
    place: Path | str, found: Sequence[Prediction], most: int | None = None
) -> None:
    """Check that the attempts at tasks can be counted together.

    place  the file or folder of the predictions, for messages
    most   the attempts at each task that count; None for all

    Raises: Fatal if a number occurs twice or is missing, or if there are several protocols. Also if
    tasks have unequal numbers of attempts, unless under `feedback`, where the last attempt may come
    early.
    """
    protocols = sorted({str(prediction.protocol) for prediction in found})
    if len(protocols) > 1:
        raise Fatal(
            f'{place} has attempts of several protocols ({", ".join(protocols)}); evaluate '
            'each protocol by itself'
        )
    numbers: dict[str, list[int]] = {}
    for prediction in found:
        numbers.setdefault(prediction.task_id, []).append(prediction.attempt)
    for task_id, attempts in numbers.items():
        _check_numbering(place, task_id, sorted(attempts))
    if numbers and protocols != [AttemptProtocol.FEEDBACK]:
        counts = {task_id: len(attempts) for task_id, attempts in numbers.items()}
        _check_equal_counts(
            place, {task: min(count, most or count) for task, count in counts.items()}
        )


def _check_numbering(place: Path | str, task_id: str, attempts: Sequence[int]) -> None:
    for number, attempt in enumerate(attempts, 1):
        if attempt < number:
            which = '' if len(set(attempts)) == 1 and attempt == 1 else f', in attempt {attempt}'
            raise Fatal(
                f'{place} answers {task_id} twice{which}; keep one prediction for each task, '
                'or number its attempts from 1'
            )
        if attempt > number:
            raise Fatal(
                f'{place} answers {task_id} in attempt {attempt} but not in attempt {number}; '
                'number attempts from 1 without gaps, and give a failed attempt a null patch'
            )


def _check_equal_counts(place: Path | str, counts: Mapping[str, int]) -> None:
    fewest, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    if counts[fewest] != counts[most]:
        raise Fatal(
            f'{place} answers {most} {counts[most]} times and {fewest} {counts[fewest]} '
            'times; answer each task equally often, giving a failed attempt a null patch, or '
            'take only the first K with --only-attempts K'
        )
