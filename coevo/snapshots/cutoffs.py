"""Training cutoffs: a date means the end of its UTC day, a month the end of its last day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from coevo.model.errors import Fatal

# When a task leaks: its start state shows, new in its pair, what nearly is its answer.

LEAST_LEAK = 0.6
"""Share of gold's text from which a task leaks; benchmarks/leaks.md says how that was set."""


def build_no_leak_condition() -> str:
    """The condition in SQL of methods and tasks that do not; where nothing is known, none does."""
    return f'coalesce(leak, 0) < {LEAST_LEAK}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoff:
    """Until when a model may have seen what was public, and how much later something must be.

    date         YYYY-MM-DD or YYYY-MM; None is no limit
    margin_days  whole days beside it
    because      what the date rests on, to be told; empty if the user named the date
    before       a day or month, too: only what was public before it began; None is no limit
    """

    date: str | None = None
    margin_days: int = 0
    because: str = ''
    before: str | None = None

    @property
    def end(self) -> datetime | None:
        """The first moment that is too late; None if there is none. Fatal if `before` is no date."""
        return None if self.before is None else parse_first_moment(self.before)

    @property
    def first_clean(self) -> datetime | None:
        """The earliest clean time. Fatal if the cutoff is none, or beyond all dates."""
        if self.date is None:
            return None
        if self.margin_days < 0:
            raise Fatal(
                f'a margin of {self.margin_days} days would let leaks through: give 0 or more'
            )
        try:
            return compute_first_clean_moment(self.date) + timedelta(days=self.margin_days)
        except OverflowError:
            raise Fatal(f'a margin of {self.margin_days} days is beyond all dates') from None

    @property
    def last_seen(self) -> str | None:
        """The last day that is not clean, margin and all: YYYY-MM-DD; None without a cutoff."""
        clean = self.first_clean
        return f'{clean - timedelta(days=1):%F}' if clean else None

    def __str__(self) -> str:
        margin = f' + {self.margin_days} days' * bool(self.margin_days)
        because = f' ({self.because})' * bool(self.because)
        after = f'after {self.date}{margin}{because}' if self.date else ''
        before = f'before {self.before}' if self.before else ''
        return f'{after} {before}'.strip()


def parse_first_moment(date: str) -> datetime:
    """When a day, YYYY-MM-DD, or a month, YYYY-MM, begins; UTC."""
    try:
        form = '%Y-%m' if len(date) == len('2024-06') else '%Y-%m-%d'
        return datetime.strptime(date, form).replace(tzinfo=UTC)
    except ValueError:
        raise _make_cutoff_error(date) from None


def compute_first_clean_moment(cutoff: str) -> datetime:
    """The earliest time that is strictly later than a cutoff, YYYY-MM-DD or YYYY-MM."""
    start = parse_first_moment(cutoff)
    try:
        if len(cutoff) == len('2024-06'):
            return (start + timedelta(days=31)).replace(day=1)
        return start + timedelta(days=1)
    except OverflowError:
        raise _make_cutoff_error(cutoff) from None


def _make_cutoff_error(text: str) -> Fatal:
    return Fatal(f'{text!r} is no cutoff: write a day, 2024-06-30, or a month, 2024-06')


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
    SELECT * FROM methods WHERE {build_no_leak_condition()} AND clean(contamination_date, cutoff)
""",
)
