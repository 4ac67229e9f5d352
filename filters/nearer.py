"""Drop changes of a window that a nearer old state shows already: they belong to that state's pair.

Candidates that are neither changed nor inserted tests are dropped, too: the pairs of neighbouring
states cover them.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.records import Candidate
from coevo.model.words import MethodChange
from filters.base import FilterCase


class Reason(Choice):
    """Why a candidate of a window is dropped."""

    NEARER_STATE = 'nearer_state', 'A nearer old state of the window already shows this change.'


def find_drop_reason(case: FilterCase, candidate: Candidate) -> Reason | None:
    """Return a reason if a state between the ends of the pair covers the candidate.

    Candidates that are neither changed nor inserted count as covered, and so do all if no source
    changed. None if the pair has no such states.
    """
    return (
        Reason.NEARER_STATE
        if case.nearer is not None and _is_covered_by_nearer_state(case, candidate)
        else None
    )


def _is_covered_by_nearer_state(case: FilterCase, candidate: Candidate) -> bool:
    assert case.nearer is not None, 'asked of pairs with states between them'
    if (
        candidate.change not in (MethodChange.CHANGED, MethodChange.INSERTED)
        or not case.change.source_changed
    ):
        return True
    return candidate.new in case.nearer
