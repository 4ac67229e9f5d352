"""Tests whose change is a refactoring and nothing more (TestEvo-Bench, 3.2)."""

from __future__ import annotations

from coevo.model.reasons import Reason
from filters.base import TrackCase

REASONS = (Reason.TEST_REFACTORED_ONLY,)


def check(case: TrackCase) -> Reason | None:
    return Reason.TEST_REFACTORED_ONLY if case.test_only_refactored else None
