"""What flows take for the present: when a run was to begin, or what the clock of a rehearsal says.

$COEVO_CLOCK names a file that holds a date, 2026-06-03 or 2026-06-03T12:00: with it months pass in
minutes, while leases, heartbeats and schedules keep the true time.
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
    """In UTC. Fatal where the clock that is named cannot be read."""
    file = os.environ.get(VARIABLE)
    if not file:
        return datetime.now(tz=UTC)
    try:
        clock_date = parse_day(Path(file).read_text().strip(), end=False)
    except (OSError, ValueError) as error:
        raise Fatal(f'${VARIABLE} names a clock that cannot be read: {error}') from None
    assert clock_date is not None  # a text gives a date, or is refused
    return clock_date


def resolve_present(scheduled: datetime) -> datetime:
    """What a run takes for the present that was to begin then, however late it does."""
    return now() if os.environ.get(VARIABLE) else scheduled


def get_scheduled_present() -> datetime:
    """The same of the present flow run."""
    return resolve_present(flow_run.scheduled_start_time or now())
