"""Pairs that change neither source nor tests, or what cannot be read, for the reason that the diff gives."""

from __future__ import annotations

from coevo.model.reasons import Reason
from filters.base import FilterCase

REASONS = (
    Reason.UNREADABLE_SOURCE,
    Reason.COMMENTS_OR_FORMATTING_ONLY,
    Reason.NO_SOURCE_OR_TEST_CHANGE,
)


def check(case: FilterCase) -> Reason | None:
    return case.change.reason
