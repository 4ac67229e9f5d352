"""Drop repairs of which it is not shown that the test itself was at fault.

If no other test is known to pass, the fault may break all tests there. If the outcomes depend on the
date of the run, the test was correct on its own date.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.words import Outcome, Track
from filters.base import TrackCase


class Reason(Choice):
    """Why a repair is dropped."""

    NO_PASSING_SIBLING = (
        'no_passing_sibling',
        (
            'No other test close to the repair passes on the old code, so the fault may break '
            'all tests there.'
        ),
    )
    CLOCK_UNKNOWN = (
        'clock_unknown',
        "A repair could not be run with its commits' dates as the clock's.",
    )
    CLOCK_DECIDES = (
        'clock_decides',
        'With the clock set to the dates of its commits, the outcomes are not those of a repair.',
    )


def find_track_loss_reason(case: TrackCase) -> Reason | None:
    """Return why a repair loses its track, judged by a near test and by runs at its commits' dates.

    Another test must be known to pass on the old code. The old test must be broken at its date and
    the new one must pass at its own. None if so, and for every other track.
    """
    if case.track is not Track.REPAIR:
        return None
    guard = case.guard
    if guard is None or not guard.sibling:
        return Reason.NO_PASSING_SIBLING
    if guard.clock_t_old_c_old is None or guard.clock_t_new_c_new is None:
        return Reason.CLOCK_UNKNOWN
    if guard.clock_t_old_c_old.is_broken and guard.clock_t_new_c_new is Outcome.PASS:
        return None
    return Reason.CLOCK_DECIDES
