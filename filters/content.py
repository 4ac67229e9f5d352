"""Drop pairs that cannot become tasks by what they change, or that cannot be read.

The diff of the pair gives the reason.
"""

from __future__ import annotations

from coevo.model.reasons import DiffReason
from filters.base import FilterCase

Reason = DiffReason


def find_drop_reason(case: FilterCase) -> DiffReason | None:
    """Return the reason for which the diff rules out the pair; None if it rules out nothing."""
    return case.change.reason
