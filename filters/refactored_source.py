"""Drop tests whose changed dependencies are all refactored and nothing more (TestEvo-Bench, 3.2).

Repairs are exempt: they mend the test itself, so refactored source says nothing about them.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.words import Track
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped because of its dependencies."""

    SOURCE_REFACTORED_ONLY = (
        'source_refactored_only',
        'All changed dependencies of the test were only refactored.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return a reason if every changed dependency of a test was only refactored.

    None for repairs, and if it is unknown.
    """
    is_relevant = case.track is not Track.REPAIR
    return Reason.SOURCE_REFACTORED_ONLY if is_relevant and case.source_only_refactored else None
