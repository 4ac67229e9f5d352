"""Record in the store that a flow run is alive.

Prefect leaves a killed run RUNNING for ever.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import TerminationSignal
from prefect.runtime import flow_run, flow_run as this_run

from coevo.model.errors import Fatal
from coevo.storage import leases
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.batches import batch
from flows.months import parse_day

# The lease of a run: a run without a heartbeat for this long is dead. Heartbeats are four times as
# frequent.
SECONDS = 45.0


@contextmanager
def hold_run_lease_or_raise(store: Root) -> Iterator[None]:
    """Hold the lease of the current flow run until the block ends.

    A run that ends by SIGTERM is scheduled again, for any worker; by the time it starts, the leases
    of this run are free. `flows.live.worker` tells all runs of a worker to end.

    Raises: Fatal if another process holds the lease of this run.
    """
    run_id = str(flow_run.id)
    try:
        terms = leases.LeaseTerms(seconds=SECONDS)
        lease = leases.take_lease(open_place(store), batch.name_run_claim(run_id), terms)
    except leases.LeaseTaken:
        raise Fatal(f'flow run {run_id} is at work in another process: start a new one') from None
    try:
        with lease:
            yield
    except (TerminationSignal, SystemExit):  # as Prefect raises it in a flow or in a task
        schedule_present_run_again()
        raise


# The rest schedules runs again with the same parameters; the store has the work that they
# completed.


def schedule_run_again(
    client: SyncPrefectClient, run: FlowRun, why: str, tags: Collection[str] = ()
) -> None:
    """Schedule a run of the same deployment with the same name and parameters.

    It happens at most once for each run and reason `why`; a run without a deployment is not
    scheduled.

    tags  tags of the new run besides those of the old one
    """
    if run.deployment_id is not None:
        client.create_flow_run_from_deployment(
            run.deployment_id,
            name=run.name,
            parameters=run.parameters,
            tags=sorted({*run.tags, *tags}),
            idempotency_key=f'{run.id}-{why}',
        )


def schedule_present_run_again() -> None:
    """Schedule the current run again with the same parameters, unless it is no longer running.

    It is scheduled once only.
    """
    with get_client(sync_client=True) as client:
        run = client.read_flow_run(this_run.id)
        if run.state is not None and run.state.is_running():
            schedule_run_again(client, run, 'handed-back')


# The time that flows take as the present.
#
# It is the scheduled start of a run, or the clock of a rehearsal. $COEVO_CLOCK names a file with a
# date, 2026-06-03 or 2026-06-03T12:00. With it, months can pass in minutes, while leases,
# heartbeats and schedules keep the true time.

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


def get_scheduled_or_clock_time(scheduled: datetime) -> datetime:
    """Return the time that a run takes as the present: the time for which it was scheduled.

    With $COEVO_CLOCK it is the date of that clock.
    """
    return now() if os.environ.get(VARIABLE) else scheduled


def get_scheduled_present() -> datetime:
    """Return the time that the current flow run takes as the present, see `get_scheduled_or_clock_time`."""
    return get_scheduled_or_clock_time(flow_run.scheduled_start_time or now())
