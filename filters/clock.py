"""Drop repairs whose outcomes depend on the date of the run.

Such a test was correct on its own date.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.words import Outcome, Track
from filters.base import TrackCase


class Reason(Choice):
    """Why a repair is dropped because of the clock."""

    CLOCK_UNKNOWN = (
        'clock_unknown',
        "A repair could not be run with its commits' dates as the clock's.",
    )
    CLOCK_DECIDES = (
        'clock_decides',
        'With the clock set to the dates of its commits, the outcomes are not those of a repair.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return why a repair loses its track, judged by runs at the dates of its commits.

    The old test must be broken at its date and the new one must pass at its own. None if so, and
    for every other track.
    """
    if case.track is not Track.REPAIR:
        return None
    guard = case.guard
    if guard is None or guard.clock_t_old_c_old is None or guard.clock_t_new_c_new is None:
        return Reason.CLOCK_UNKNOWN
    if guard.clock_t_old_c_old.is_broken and guard.clock_t_new_c_new is Outcome.PASS:
        return None
    return Reason.CLOCK_DECIDES
