"""Remove scheduled runs whose work is done already, with all runs that a Prefect server lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run as this_run

from coevo.storage.place import Root
from flows.batches import batch

# As many entries as a Prefect server gives in one answer.
PAGE = 200

_T = TypeVar('_T')


def read_pages(read_page: Callable[[int, int], Sequence[_T]], size: int = PAGE) -> Iterator[_T]:
    """Yield the entries of all pages, until a page is not full.

    read_page  returns the entries of one page, given their greatest number and how many to skip
    """
    offset = 0
    while True:
        page = read_page(size, offset)
        yield from page
        if len(page) < size:
            return
        offset += len(page)


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


_WAITING = [StateType.SCHEDULED.value]
_OPEN = [*_WAITING, StateType.PENDING.value, StateType.RUNNING.value]


def return_empty_text(scheduled: datetime) -> str:
    """Return an empty text for every time: each run does all that is due, whatever its schedule."""
    return ''


def remove_overdue_runs(describe_work: Callable[[datetime], object] = return_empty_text) -> int:
    """Remove late runs of the current run's deployment that would do the same; return their number.

    They never began. Cancelled instead, they would hide the runs that did something.

    about  returns what a run scheduled for a time is to do; runs that do something else stay, for
           example the release of another month
    """
    with get_client(sync_client=True) as client:
        present = client.read_flow_run(this_run.id)
        if present.deployment_id is None or present.expected_start_time is None:
            return 0
        own = describe_work(present.expected_start_time)
        behind = [
            run
            for run in _list_late_runs(client, present)
            if run.expected_start_time is not None and describe_work(run.expected_start_time) == own
        ]
        for run in behind:
            with suppress(ObjectNotFound):  # another run of the deployment was faster
                client.delete_flow_run(run.id)
    return len(behind)


def list_requested_repositories(
    store: Root, deployment: str, parameters: Mapping[str, Any]
) -> frozenset[str]:
    """Return the repositories of waiting or running batches with these parameters.

    A run whose process is gone does not count, although Prefect may show it as running for ever.
    """
    living = batch.list_living_runs(store)
    with get_client(sync_client=True) as client:
        deployment_record = client.read_deployment_by_name(deployment)
        wanted = FlowRunFilter.model_validate(
            {'state': {'type': {'any_': _OPEN}}, 'deployment_id': {'any_': [deployment_record.id]}}
        )
        runs = list_flow_runs(client, wanted)
    same = _omit_repositories({**deployment_record.parameters, **parameters})
    return frozenset(
        name
        for run in runs
        if run.state is not None
        if (run.state.is_scheduled() or str(run.id) in living)
        and _omit_repositories(run.parameters) == same
        for name in run.parameters.get('repositories', ())
    )


def _list_late_runs(client: SyncPrefectClient, present: FlowRun) -> Iterator[FlowRun]:
    """Yield runs of the same schedule that should have started by now, and have not."""
    wanted = FlowRunFilter.model_validate(
        {
            'state': {'type': {'any_': _WAITING}},
            'deployment_id': {'any_': [present.deployment_id]},
            'expected_start_time': {'before_': datetime.now(tz=UTC)},
        }
    )
    for run in list_flow_runs(client, wanted):
        if run.auto_scheduled and run.id != present.id:
            yield run


def _omit_repositories(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without the repositories."""
    return {name: value for name, value in parameters.items() if name != 'repositories'}
