"""Drop tests that depend on other test changes of the same pair (TestEvo-Bench, 3.2)."""

from __future__ import annotations

from coevo.model.column import Choice
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped after its isolated cells."""

    NOT_ISOLATED = (
        'not_isolated',
        (
            "The outcome changes if only the task's tests and the helpers that the pair adds "
            'for them are exchanged, instead of the whole test tree.'
        ),
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return a reason if the isolated cells disagree with the cells of the whole tree.

    None if they agree or were not run.
    """
    disagrees = case.isolated is not None and not case.isolated.agrees
    return Reason.NOT_ISOLATED if disagrees else None
