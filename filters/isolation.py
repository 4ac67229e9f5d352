"""Tests that depend on other changes of the test tree in the same pair (TestEvo-Bench, 3.2)."""

from __future__ import annotations

from coevo.model.reasons import Reason
from filters.base import TrackCase

REASONS = (Reason.NOT_ISOLATED,)


def check(case: TrackCase) -> Reason | None:
    disagrees = case.isolated is not None and not case.isolated.agrees
    return Reason.NOT_ISOLATED if disagrees else None
