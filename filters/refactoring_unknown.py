"""Tests of which nobody knows whether they, or their dependencies, are only refactored.

That refactorings could not be found is never taken for there being none. It comes after the filters
that need one of both to be known.
"""

from __future__ import annotations

from coevo.model.reasons import Reason
from coevo.model.words import Track
from filters.base import TrackCase

REASONS = (Reason.REFACTORING_UNKNOWN,)


def check(case: TrackCase) -> Reason | None:
    source_unknown = case.source_only_refactored is None and case.track is not Track.REPAIR
    unknown = case.test_only_refactored is None or source_unknown
    return Reason.REFACTORING_UNKNOWN if unknown else None
