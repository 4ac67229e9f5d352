"""Tests of which nobody knows whether they, or their dependencies, are only refactored.

That refactorings could not be found is never taken for there being none.
"""

from __future__ import annotations

from coevo.model.choices import Choice
from coevo.model.words import Track
from filters.base import TrackCase


class Reason(Choice):
    REFACTORING_UNKNOWN = 'refactoring_unknown', 'The refactorings of the pair could not be found.'


def check(case: TrackCase) -> Reason | None:
    source_unknown = case.source_only_refactored is None and case.track is not Track.REPAIR
    unknown = case.test_only_refactored is None or source_unknown
    return Reason.REFACTORING_UNKNOWN if unknown else None
