"""Drop tests whose change is a refactoring and nothing more (TestEvo-Bench, 3.2)."""

from __future__ import annotations

from coevo.model.column import Choice
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped because of its own change."""

    TEST_REFACTORED_ONLY = (
        'test_refactored_only',
        'The test was only refactored.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return a reason if the test was only refactored; None if not, or if it is unknown."""
    return Reason.TEST_REFACTORED_ONLY if case.test_only_refactored else None
