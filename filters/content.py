"""Pairs that change neither source nor tests, or what cannot be read, for the reason that the diff gives."""

from __future__ import annotations

from coevo.model.reasons import DiffReason
from filters.base import FilterCase

Reason = DiffReason


def check(case: FilterCase) -> DiffReason | None:
    return case.change.reason
