"""Drop methods of pairs whose ends do not pass all of their own tests.

Only if the profile demands it.
"""

from __future__ import annotations

from coevo.engine.suites import has_passed
from coevo.model.column import Choice
from filters.base import TrackCase


class Reason(Choice):
    """Why a method is dropped because of the whole suites."""

    SUITE_OLD_BROKEN = (
        'suite_old_broken',
        'The profile requires all tests of both revisions to pass; old ones do not.',
    )
    SUITE_NEW_BROKEN = (
        'suite_new_broken',
        'The profile requires all tests of both revisions to pass; new ones do not.',
    )
    SUITE_UNKNOWN = (
        'suite_unknown',
        'The profile requires all tests of both revisions to pass; they were not run.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return which end failed its own tests, or that they were not run.

    None if both ends pass, or the profile does not demand it.
    """
    if not case.profile.suites:
        return None
    old, new = has_passed(case.suite_old), has_passed(case.suite_new)
    if old is False:
        return Reason.SUITE_OLD_BROKEN
    if new is False:
        return Reason.SUITE_NEW_BROKEN
    return None if old and new else Reason.SUITE_UNKNOWN
