"""A flow run says in the store that it lives: Prefect leaves one that was killed RUNNING for ever."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import TerminationSignal
from prefect.runtime import flow_run, flow_run as this_run

from coevo.model.errors import Fatal
from coevo.storage import leases
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.batches import claims

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


# Runs that are asked for once more, with the same parameters; the store knows what they had done.


def start_run_again(
    client: SyncPrefectClient, run: FlowRun, why: str, tags: Collection[str] = ()
) -> None:
    """Ask for a run of the same deployment, under the same name. For one reason a run is started again once.

    tags  what the new run has beside those of the old one
    """
    if run.deployment_id is not None:
        client.create_flow_run_from_deployment(
            run.deployment_id,
            name=run.name,
            parameters=run.parameters,
            tags=sorted({*run.tags, *tags}),
            idempotency_key=f'{run.id}-{why}',
        )


def request_present_run_again() -> None:
    """Ask for the present run once more, unless it was cancelled or is scheduled anew already."""
    with get_client(sync_client=True) as client:
        run = client.read_flow_run(this_run.id)
        if run.state is not None and run.state.is_running():
            start_run_again(client, run, 'handed-back')
