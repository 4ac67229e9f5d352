"""Tests all of whose changed dependencies are refactored and nothing more (TestEvo-Bench, 3.2).

A repair is the test's own: what happens to the source beside it says nothing of it.
"""

from __future__ import annotations

from coevo.model.choices import Choice
from coevo.model.words import Track
from filters.base import TrackCase


class Reason(Choice):
    SOURCE_REFACTORED_ONLY = (
        'source_refactored_only',
        'All changed dependencies of the test are refactored and nothing more.',
    )


def check(case: TrackCase) -> Reason | None:
    is_relevant = case.track is not Track.REPAIR
    return Reason.SOURCE_REFACTORED_ONLY if is_relevant and case.source_only_refactored else None
