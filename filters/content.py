"""Drop pairs that change neither source nor tests, or that cannot be read; the diff gives the
reason."""

from __future__ import annotations

from coevo.model.reasons import DiffReason
from filters.base import FilterCase

Reason = DiffReason


def check(case: FilterCase) -> DiffReason | None:
    """Return the reason that the diff found, or None."""
    return case.change.reason
