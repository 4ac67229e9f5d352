"""In a window, changes that a nearer old state shows already: they belong to that pair.

All that is no changed or inserted test belongs to neighbours.
"""

from __future__ import annotations

from coevo.model.choices import Choice
from coevo.model.records import Candidate
from coevo.model.words import MethodChange
from filters.base import FilterCase


class Reason(Choice):
    NEARER_STATE = 'nearer_state', 'A nearer old state of the window shows this change already.'


def check(case: FilterCase, candidate: Candidate) -> Reason | None:
    return (
        Reason.NEARER_STATE
        if case.nearer is not None and _is_shown_nearer(case, candidate)
        else None
    )


def _is_shown_nearer(case: FilterCase, candidate: Candidate) -> bool:
    assert case.nearer is not None, 'asked of pairs with states between them'
    if (
        candidate.change not in (MethodChange.CHANGED, MethodChange.INSERTED)
        or not case.change.source_changed
    ):
        return True
    return candidate.new in case.nearer
