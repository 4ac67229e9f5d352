"""Drop tests that, or whose changed dependencies, were only refactored (TestEvo-Bench, 3.2).

A failed search for refactorings is never taken as "no refactorings". Of a repair only its own change
counts: it mends the test itself, so refactored source says nothing about it.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.words import Track
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped because of refactorings."""

    REFACTORING_UNKNOWN = 'refactoring_unknown', 'The refactorings of the pair could not be found.'
    TEST_REFACTORED_ONLY = 'test_refactored_only', 'The test was only refactored.'
    SOURCE_REFACTORED_ONLY = (
        'source_refactored_only',
        'All changed dependencies of the test were only refactored.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return whether the test or all its changed dependencies were only refactored, as a reason.

    A reason, too, if one of both is unknown; None if both are known and neither is so.
    """
    counts_source = case.track is not Track.REPAIR
    source_unknown = counts_source and case.source_only_refactored is None
    if case.test_only_refactored is None or source_unknown:
        return Reason.REFACTORING_UNKNOWN
    if case.test_only_refactored:
        return Reason.TEST_REFACTORED_ONLY
    if counts_source and case.source_only_refactored:
        return Reason.SOURCE_REFACTORED_ONLY
    return None
