"""Tests of which a deciding pass, watched from outside of its process, is not what it is told to be.

Mined code shares its process with the worker that tells its verdict, and could forge it. A task of
such a test could not be scored either: gold itself would count as tampered.
"""

from __future__ import annotations

from coevo.model.choices import Choice
from filters.base import TrackCase


class Reason(Choice):
    PASS_NOT_CONFIRMED = (
        'pass_not_confirmed',
        (
            'Watched from outside of its process, a pass that decides the label is not what it is '
            'told.'
        ),
    )


def check(case: TrackCase) -> Reason | None:
    return Reason.PASS_NOT_CONFIRMED if case.doubt is not None else None
