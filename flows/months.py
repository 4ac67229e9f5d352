"""Months as YYYY-MM."""

from __future__ import annotations

from datetime import UTC
from datetime import datetime
from datetime import timedelta

from coevo.model.errors import Fatal


def end_of(month: str, now: datetime) -> datetime | None:
    """The month's last moment, in UTC; None where it is not over, for then it is no limit."""
    first = _first(month)
    end = (first + timedelta(days=31)).replace(day=1) - timedelta(microseconds=1)
    return end if end < now else None


def before(now: datetime) -> str:
    """The month before the one that `now` is in."""
    return f'{now.replace(day=1) - timedelta(days=1):%Y-%m}'


def _first(month: str) -> datetime:
    try:
        return datetime.strptime(month, '%Y-%m').replace(tzinfo=UTC)
    except ValueError:
        raise Fatal(f'{month!r} is not a month; write it as 2026-01') from None
