"""Drop tests with a deciding pass that the observer outside of the test process did not confirm.

Mined code shares its process with the worker that reports its outcome, and could forge a pass. A
task of such a test could not be graded either: gold itself would count as tampered.
"""

from __future__ import annotations

from coevo.model.column import Choice
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped because of an unconfirmed pass."""

    PASS_NOT_CONFIRMED = (
        'pass_not_confirmed',
        'An observer outside the test process did not confirm a pass that decides the label.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return a reason if an observer did not confirm a pass that decides the label, else None."""
    return Reason.PASS_NOT_CONFIRMED if case.doubt is not None else None
