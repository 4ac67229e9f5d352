"""The time that flows take as the present.

It is the scheduled start of a run, or the clock of a rehearsal. $COEVO_CLOCK names a file with a
date, 2026-06-03 or 2026-06-03T12:00. With it, months can pass in minutes, while leases, heartbeats
and schedules keep the true time.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from prefect.runtime import flow_run

from coevo.model.errors import Fatal
from flows.months import parse_day

VARIABLE = 'COEVO_CLOCK'


def now() -> datetime:
    """Return the present in UTC: the date in the file that $COEVO_CLOCK names, else the true time.

    Raises: Fatal if that file cannot be read.
    """
    file = os.environ.get(VARIABLE)
    if not file:
        return datetime.now(tz=UTC)
    try:
        clock_date = parse_day(Path(file).read_text().strip(), end=False)
    except (OSError, ValueError) as error:
        raise Fatal(f'${VARIABLE} names a clock that cannot be read: {error}') from None
    assert clock_date is not None  # a text gives a date or is refused
    return clock_date


def resolve_present(scheduled: datetime) -> datetime:
    """Return the time that a run takes as the present: the time for which it was scheduled.

    With $COEVO_CLOCK it is the date of that clock.
    """
    return now() if os.environ.get(VARIABLE) else scheduled


def get_scheduled_present() -> datetime:
    """Return the time that the current flow run takes as the present, see `resolve_present`."""
    return resolve_present(flow_run.scheduled_start_time or now())
