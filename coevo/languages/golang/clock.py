"""A clock that starts at a date: dates alone are other, what is measured and waited for stays real."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil


def make_clock_variables(start: datetime | None) -> Mapping[str, str]:
    """The variables of a process whose clock starts at a date; see `standard_library`."""
    if start is None:
        return {}
    # never before the date: less than a second after it
    return {'COEVO_CLOCK_SHIFT': str(ceil((start - datetime.now(UTC)).total_seconds()))}
