"""Drop tests for which it is unknown whether they, or their dependencies, are only refactored.

A failed search for refactorings is never taken as "no refactorings".
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.words import Track
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped without a result of the search for refactorings."""

    REFACTORING_UNKNOWN = 'refactoring_unknown', 'The refactorings of the pair could not be found.'


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return a reason if it is unknown whether a test, or its dependencies, were only refactored.

    The dependencies of a repair do not count.
    """
    source_unknown = case.source_only_refactored is None and case.track is not Track.REPAIR
    unknown = case.test_only_refactored is None or source_unknown
    return Reason.REFACTORING_UNKNOWN if unknown else None
