"""Training cutoffs: a date means the end of its UTC day, a month the end of its last day."""

from __future__ import annotations

from datetime import UTC
from datetime import datetime
from datetime import timedelta

from coevo.errors import Fatal


def first_clean_moment(cutoff: str) -> datetime:
    """The earliest time that is strictly later than a cutoff, YYYY-MM-DD or YYYY-MM."""
    try:
        if len(cutoff) == len('2024-06'):
            start = datetime.strptime(cutoff, '%Y-%m').replace(tzinfo=UTC)
            return (start + timedelta(days=31)).replace(day=1)
        return datetime.strptime(cutoff, '%Y-%m-%d').replace(tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise Fatal(f'{cutoff!r} is no cutoff: write a day, 2024-06-30, or a month, 2024-06') from (
            None
        )


# The same in SQL. A date that is null is never clean, nor is anything under a null cutoff.
MACRO = """
CREATE MACRO clean(contamination_date, cutoff) AS coalesce(
    contamination_date >= (CASE
        WHEN length(cutoff::VARCHAR) = 7 THEN (cutoff::VARCHAR || '-01')::DATE + INTERVAL 1 MONTH
        ELSE cutoff::VARCHAR::DATE + INTERVAL 1 DAY
    END) AT TIME ZONE 'UTC',
    false)
"""
