"""Methods of pairs whose ends do not pass all of their own tests, where the profile asks for that."""

from __future__ import annotations

from coevo.engine.suites import has_passed
from coevo.model.reasons import Reason
from filters.base import TrackCase

REASONS = (Reason.SUITE_OLD_BROKEN, Reason.SUITE_NEW_BROKEN, Reason.SUITE_UNKNOWN)


def check(case: TrackCase) -> Reason | None:
    if not case.profile.suites:
        return None
    old, new = has_passed(case.suite_old), has_passed(case.suite_new)
    if old is False:
        return Reason.SUITE_OLD_BROKEN
    if new is False:
        return Reason.SUITE_NEW_BROKEN
    return None if old and new else Reason.SUITE_UNKNOWN
