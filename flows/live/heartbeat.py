"""A flow run says in the store that it lives: Prefect leaves one that was killed RUNNING for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prefect.exceptions import TerminationSignal
from prefect.runtime import flow_run

from coevo.model.errors import Fatal
from coevo.storage import leases
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.batches import claims
from flows.live.starting_again import request_present_run_again

# A run that nobody has heard of for so long is dead; it says so four times as often.
SECONDS = 45.0


@contextmanager
def hold_run_lease(store: Root) -> Iterator[None]:
    """Hold the lease of the present flow run until the block ends.

    A run that is told to end (SIGTERM) is asked for once more, for any worker to take: by then
    its leases are free. `flows.live.worker` says it to all runs of a worker.
    """
    run_id = str(flow_run.id)
    try:
        terms = leases.LeaseTerms(seconds=SECONDS)
        lease = leases.take_lease(open_place(store), claims.name_run_claim(run_id), terms)
    except leases.LeaseTaken:
        raise Fatal(f'flow run {run_id} is at work in another process: start a new one') from None
    try:
        with lease:
            yield
    except (TerminationSignal, SystemExit):  # as Prefect raises it in a flow or in a task
        request_present_run_again()
        raise
