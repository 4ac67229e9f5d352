"""Tests of which a deciding pass, watched from outside of its process, is not what it is told to be.

Mined code shares its process with the worker that tells its verdict, and could forge it. A task of
such a test could not be scored either: gold itself would count as tampered.
"""

from __future__ import annotations

from coevo.model.reasons import Reason
from filters.base import TrackCase

REASONS = (Reason.PASS_NOT_CONFIRMED,)


def check(case: TrackCase) -> Reason | None:
    return Reason.PASS_NOT_CONFIRMED if case.doubt is not None else None
