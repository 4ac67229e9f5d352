"""Repairs where no other test is known to pass: what breaks them may break all tests there."""

from __future__ import annotations

from coevo.model.reasons import Reason
from coevo.model.words import Track
from filters.base import TrackCase

REASONS = (Reason.NO_PASSING_SIBLING,)


def check(case: TrackCase) -> Reason | None:
    if case.track is not Track.REPAIR or (case.guard is not None and case.guard.sibling):
        return None
    return Reason.NO_PASSING_SIBLING
