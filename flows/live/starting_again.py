"""Runs that are asked for once more, with the same parameters; the store knows what they had done."""

from __future__ import annotations

from collections.abc import Collection

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.runtime import flow_run as this_run


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
