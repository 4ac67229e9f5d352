"""Training cutoffs: a date means the end of its UTC day, a month the end of its last day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from datetime import timedelta

from coevo.model.errors import Fatal
from coevo.snapshots.leaks import no_leak


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoff:
    """Until when a model may have seen what was public, and how much later something must be.

    date         YYYY-MM-DD or YYYY-MM
    margin_days  whole days beside it
    because      what the date rests on, to be told; empty if the user named the date
    """

    date: str
    margin_days: int = 0
    because: str = ''

    @property
    def first_clean(self) -> datetime:
        """The earliest clean time. Fatal if the cutoff is none, or beyond all dates."""
        if self.margin_days < 0:
            raise Fatal(
                f'a margin of {self.margin_days} days would let leaks through: give 0 or more'
            )
        try:
            return first_clean_moment(self.date) + timedelta(days=self.margin_days)
        except OverflowError:
            raise Fatal(f'a margin of {self.margin_days} days is beyond all dates') from None

    @property
    def last_seen(self) -> str:
        """The last day that is not clean, margin and all: YYYY-MM-DD."""
        return f'{self.first_clean - timedelta(days=1):%F}'

    def __str__(self) -> str:
        margin = f' + {self.margin_days} days' * bool(self.margin_days)
        return f'{self.date}{margin}' + f' ({self.because})' * bool(self.because)


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


# The same in SQL, for a date and for the methods of a snapshot. A date that is null is never clean,
# nor is anything under a null cutoff;
# nor, of methods, what leaks. Written so that DuckDB can skip row groups by it.
MACROS = (
    """
CREATE MACRO clean(contamination_date, cutoff) AS
    contamination_date IS NOT NULL AND cutoff IS NOT NULL AND contamination_date >= (CASE
        WHEN length(cutoff::VARCHAR) = 7 THEN (cutoff::VARCHAR || '-01')::DATE + INTERVAL 1 MONTH
        ELSE cutoff::VARCHAR::DATE + INTERVAL 1 DAY
    END) AT TIME ZONE 'UTC'
""",
    f"""
CREATE MACRO clean(cutoff) AS TABLE
    SELECT * FROM methods WHERE {no_leak()} AND clean(contamination_date, cutoff)
""",
)
