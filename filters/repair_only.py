"""Without a source change only a changed test is of use: it may be a repair."""

from __future__ import annotations

from coevo.model.choices import Choice
from coevo.model.records import Candidate
from coevo.model.words import MethodChange
from filters.base import FilterCase


class Reason(Choice):
    NO_SOURCE_CHANGE = (
        'no_source_change',
        'The pair changes tests only, and this test was not changed.',
    )


def check(case: FilterCase, candidate: Candidate) -> Reason | None:
    if case.change.source_changed or candidate.change is MethodChange.CHANGED:
        return None
    return Reason.NO_SOURCE_CHANGE
