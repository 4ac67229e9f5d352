"""The developers' own patches (gold) as predictions, against which other answers are measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from coevo.evaluation.records import Prediction

if TYPE_CHECKING:  # `assignments` needs packages that are not in the base installation
    from coevo.evaluation.assignments import Assignment

# The word that users write for gold in the place of a file of predictions.
GOLD: Final = 'gold'


def make_gold_predictions(wanted: Iterable[Assignment]) -> tuple[Prediction, ...]:
    """Return the developers' own patch of each task as a prediction, with `gold` as its harness."""
    return tuple(
        Prediction(
            task_id=assignment.task_id,
            patch=assignment.task.gold_patch.encode('utf-8', 'surrogateescape'),
            harness=GOLD,
        )
        for assignment in wanted
    )
