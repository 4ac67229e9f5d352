"""Drop tests that depend on other changes of the test tree in the same pair (TestEvo-Bench,
3.2)."""

from __future__ import annotations

from coevo.model.choices import Choice
from filters.base import TrackCase


class Reason(Choice):
    """Why a test is dropped after its isolated cells."""

    NOT_ISOLATED = (
        'not_isolated',
        (
            "The outcome changes if only the task's tests and the helpers that the pair adds "
            'for them are exchanged, instead of the whole test tree.'
        ),
    )


def check(case: TrackCase) -> Reason | None:
    """Return a reason if the isolated cells were run and disagree with the cells of the whole
    tree."""
    disagrees = case.isolated is not None and not case.isolated.agrees
    return Reason.NOT_ISOLATED if disagrees else None
