"""Training cutoffs: a day means the end of that day in UTC, a month the end of its last day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from coevo.model.errors import Fatal

# A task leaks if its start state shows text that is new in its pair and is nearly the answer.

LEAST_LEAK = 0.6
"""Share of gold's text from which a task leaks; benchmarks/leaks.md says how it was chosen."""


def build_no_leak_condition() -> str:
    """Return the SQL condition for methods and tasks that do not leak.

    An unknown leak counts as none.
    """
    return f'coalesce(leak, 0) < {LEAST_LEAK}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoff:
    """The time in which something must have become public: after a training cutoff, before an end.

    date         training cutoff, YYYY-MM-DD or YYYY-MM; None is no limit
    margin_days  whole days that are added to the cutoff
    because      what the date rests on, for messages; empty if the user named the date
    before       a day or month: only what was public before it began; None is no limit
    """

    date: str | None = None
    margin_days: int = 0
    because: str = ''
    before: str | None = None

    @property
    def end(self) -> datetime | None:
        """The first moment that is too late; None if there is no end.

        Raises: Fatal if `before` is no date.
        """
        return None if self.before is None else parse_first_moment(self.before)

    @property
    def first_clean(self) -> datetime | None:
        """The earliest time that is clean; None without a cutoff.

        Raises: Fatal if the cutoff is no date, the margin negative, or the time beyond all dates.
        """
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
    def last_day_not_clean(self) -> str | None:
        """The last day that is not clean, with the margin, as YYYY-MM-DD; None without a cutoff."""
        clean = self.first_clean
        return f'{clean - timedelta(days=1):%F}' if clean else None

    @property
    def after_words(self) -> str:
        """The cutoff in words, such as `after 2025-06 + 30 days`; empty without one."""
        margin = f' + {self.margin_days} days' * bool(self.margin_days)
        because = f' ({self.because})' * bool(self.because)
        return f'after {self.date}{margin}{because}' if self.date else ''

    @property
    def before_words(self) -> str:
        """The end in words, such as `before 2026-01`; empty without one."""
        return f'before {self.before}' if self.before else ''

    def __str__(self) -> str:
        return f'{self.after_words} {self.before_words}'.strip()


def parse_first_moment(date: str) -> datetime:
    """Return the beginning of a day (YYYY-MM-DD) or month (YYYY-MM) in UTC.

    Raises: Fatal if the text is neither.
    """
    try:
        form = '%Y-%m' if len(date) == len('2024-06') else '%Y-%m-%d'
        return datetime.strptime(date, form).replace(tzinfo=UTC)
    except ValueError:
        raise _make_cutoff_error(date) from None


def compute_first_clean_moment(cutoff: str) -> datetime:
    """Return the earliest time that is strictly later than a cutoff, YYYY-MM-DD or YYYY-MM.

    Raises: Fatal if the text is neither.
    """
    start = parse_first_moment(cutoff)
    try:
        if len(cutoff) == len('2024-06'):
            return (start + timedelta(days=31)).replace(day=1)
        return start + timedelta(days=1)
    except OverflowError:
        raise _make_cutoff_error(cutoff) from None


def _make_cutoff_error(text: str) -> Fatal:
    return Fatal(f'{text!r} is no cutoff: write a day, 2024-06-30, or a month, 2024-06')


# SQL macros: `clean` of a date and a cutoff, and `clean` of a cutoff, which selects methods. A date
# that is null is never clean, nothing is clean under a null cutoff, and a method that leaks is not
# clean, nor is one of a task that was public earlier by another of its methods. The comparison has a
# form by which DuckDB can skip row groups.
MACROS = (
    """
CREATE MACRO clean(contamination_date, cutoff) AS
    contamination_date IS NOT NULL AND cutoff IS NOT NULL AND contamination_date >= (CASE
        WHEN length(cutoff::VARCHAR) < 7 THEN
            error('a cutoff is a day, 2024-06-30, or a month, 2024-06')::VARCHAR::DATE
        WHEN length(cutoff::VARCHAR) = 7 THEN (cutoff::VARCHAR || '-01')::DATE + INTERVAL 1 MONTH
        ELSE cutoff::VARCHAR::DATE + INTERVAL 1 DAY
    END) AT TIME ZONE 'UTC'
""",
    f"""
CREATE MACRO clean(cutoff) AS TABLE
    SELECT * FROM methods WHERE {build_no_leak_condition()} AND clean(contamination_date, cutoff)
        AND (task_id IS NULL OR task_id IN (
            SELECT task_id FROM tasks WHERE clean(contamination_date, cutoff)))
""",
)
