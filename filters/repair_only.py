"""Without a source change only a changed test is of use: it may be a repair."""

from __future__ import annotations

from coevo.reasons import Reason
from coevo.records import Candidate
from coevo.records import Change
from filters.base import Case

REASONS = (Reason.NO_SOURCE_CHANGE,)


def check(case: Case, candidate: Candidate) -> Reason | None:
    if case.change.source_changed or candidate.change is Change.CHANGED:
        return None
    return Reason.NO_SOURCE_CHANGE
