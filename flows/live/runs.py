"""List flow runs of a Prefect server completely: one answer of its API has 200 of them at most."""

from __future__ import annotations

from collections.abc import Sequence

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.sorting import FlowRunSort

from flows.paging import read_pages


def list_flow_runs(client: SyncPrefectClient, wanted: FlowRunFilter) -> tuple[FlowRun, ...]:
    """Return all flow runs that a filter selects, each once.

    A run that leaves the selection meanwhile may hide another one until the next call.
    """

    def read_page(limit: int, offset: int) -> Sequence[FlowRun]:
        """Return one page, in the order of ids, which no change of state disturbs."""
        return client.read_flow_runs(
            flow_run_filter=wanted, sort=FlowRunSort.ID_DESC, limit=limit, offset=offset
        )

    return tuple({run.id: run for run in read_pages(read_page)}.values())
