"""Drop all tests but changed ones if the pair changes no source.

Only a changed test may be a repair.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.records import Candidate
from coevo.model.words import MethodChange
from filters.base import FilterCase


class Reason(Choice):
    """Why a test of a pair without a source change is dropped."""

    NO_SOURCE_CHANGE = (
        'no_source_change',
        'The pair changes tests only, and this test was not changed.',
    )


def find_drop_reason(case: FilterCase, candidate: Candidate) -> Reason | None:
    """Return a reason if the pair changes no source and the candidate is not a changed test."""
    if case.change.source_changed or candidate.change is MethodChange.CHANGED:
        return None
    return Reason.NO_SOURCE_CHANGE
