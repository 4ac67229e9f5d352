"""Months as YYYY-MM, and days as YYYY-MM-DD."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from coevo.model.errors import Fatal


def find_month_end(month: str, now: datetime) -> datetime | None:
    """Return the month's last moment in UTC; None if the month is not over.

    Raises: Fatal if the text is no month.
    """
    first = _parse_month(month)
    end = (first + timedelta(days=31)).replace(day=1) - timedelta(microseconds=1)
    return end if end < now else None


def find_previous_month(now: datetime) -> str:
    """Return the month before the one that contains `now`."""
    return f'{now.replace(day=1) - timedelta(days=1):%Y-%m}'


def parse_day(text: str | None, *, end: bool) -> datetime | None:
    """Return the moment of a date or time in UTC; None for None.

    A bare date means its first moment, or its last one if `end` is true. Raises: Fatal if the text
    is no date.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (OverflowError, ValueError):
        raise Fatal(f'{text!r} is not a date; write it as 2026-01-31') from None
    if end and len(text) == len('2026-01-31'):
        moment += timedelta(days=1) - timedelta(microseconds=1)
    return moment


def _parse_month(month: str) -> datetime:
    try:
        return datetime.strptime(month, '%Y-%m').replace(tzinfo=UTC)
    except ValueError:
        raise Fatal(f'{month!r} is not a month; write it as 2026-01') from None
