"""Drop pairs of states whose ends are too far apart in time to be one change.

Only the walks `states` and `window` are checked: a commit and its first parent are one change
however long it took. The gap is the time between the committer dates of the two ends.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.profiles import Profile
from coevo.model.records import Pair
from coevo.model.words import Walk


class Reason(Choice):
    """Why a pair is dropped because of its gap."""

    GAP_TOO_LONG = 'gap_too_long', 'The two revisions are further apart than the profile allows.'
    GAP_NEGATIVE = 'gap_negative', 'The new revision is older than the old one by committer time.'
    GAP_UNKNOWN = 'gap_unknown', 'A committer date is missing or cannot be read.'


def find_drop_reason(pair: Pair, profile: Profile) -> Reason | None:
    """Return why the time between the ends of a pair is not acceptable under the profile.

    None if it is, for other walks than `states` and `window`, and if the profile sets no limit.
    """
    if pair.walk not in (Walk.STATES, Walk.WINDOW) or profile.gap_hours is None:
        return None
    if pair.gap_hours is None:
        return Reason.GAP_UNKNOWN
    if pair.gap_hours < 0:
        return Reason.GAP_NEGATIVE
    return Reason.GAP_TOO_LONG if pair.gap_hours > profile.gap_hours else None
