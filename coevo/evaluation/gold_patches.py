"""The developers' own patches as predictions: what any other answer is measured against."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from coevo.evaluation.records import Prediction

if TYPE_CHECKING:  # which needs what the bare package does not bring
    from coevo.evaluation.assignments import Assignment

# The word that stands for them where predictions are named.
GOLD: Final = 'gold'


def make_gold_predictions(wanted: Iterable[Assignment]) -> tuple[Prediction, ...]:
    """A prediction for each task, by a harness of the name `gold`."""
    return tuple(
        Prediction(
            task_id=assignment.task_id,
            patch=assignment.task.test_patch.encode('utf-8', 'surrogateescape'),
            harness=GOLD,
        )
        for assignment in wanted
    )
