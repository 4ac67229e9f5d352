"""Drop repairs where no other test is known to pass: the fault may break all tests there."""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.words import Track
from filters.base import TrackCase


class Reason(Choice):
    """Why a repair is dropped."""

    NO_PASSING_SIBLING = (
        'no_passing_sibling',
        (
            'No other test close to the repair passes on the old code, so the fault may break '
            'all tests there.'
        ),
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return a reason if no other test near a repair is known to pass on the old code.

    None for other tracks.
    """
    if case.track is not Track.REPAIR or (case.guard is not None and case.guard.sibling):
        return None
    return Reason.NO_PASSING_SIBLING
