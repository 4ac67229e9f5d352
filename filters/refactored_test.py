"""Tests whose change is a refactoring and nothing more (TestEvo-Bench, 3.2)."""

from __future__ import annotations

from coevo.model.choices import Choice
from filters.base import TrackCase


class Reason(Choice):
    TEST_REFACTORED_ONLY = (
        'test_refactored_only',
        'The change of the test is a refactoring and nothing more.',
    )


def check(case: TrackCase) -> Reason | None:
    return Reason.TEST_REFACTORED_ONLY if case.test_only_refactored else None
