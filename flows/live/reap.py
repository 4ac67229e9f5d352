"""The reaper: end runs that Prefect believes to be running but that have no heartbeat, and remove
needless ones.

Their slots become free. A run that was killed is started once more with the same parameters; the
store has the work that it completed. A run whose heartbeat has stopped is dead at once; a run that
never had one is dead after a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from prefect import flow, get_run_logger
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run as this_run
from prefect.states import Crashed

from coevo.model.listener import Say
from coevo.storage.place import Root
from flows.batches import batch
from flows.live.heartbeat import schedule_run_again
from flows.live.trying import turn_errors_into_failed_states
from flows.live.worker_settings import load_worker_settings

# Remove scheduled runs whose work is done already, with all runs that a Prefect server lists.

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
_SCHEDULED = [*_WAITING, StateType.PENDING.value, StateType.RUNNING.value]


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
            {
                'state': {'type': {'any_': _SCHEDULED}},
                'deployment_id': {'any_': [deployment_record.id]},
            }
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


# The reaper: end runs that Prefect believes to be running but that have no heartbeat.

TAG = 'coevo'
AGAIN = 'again'  # a run that the reaper has started; it is not started a third time

# Time from the beginning of a state to the first heartbeat: a process starts slowly on a busy
# machine.
GRACE_SECONDS = 600.0
_OPEN = [StateType.PENDING.value, StateType.RUNNING.value, StateType.CANCELLING.value]


@flow(name='reap', log_prints=True)
@turn_errors_into_failed_states
def reap(grace_seconds: float = GRACE_SECONDS) -> int:
    """End all dead runs, start them again, and return their number.

    grace_seconds  how long a run may be without a first heartbeat
    """
    remove_overdue_runs()
    store, grace = load_worker_settings().store, timedelta(seconds=grace_seconds)
    return len(restart_and_list_dead_runs(store, grace, get_run_logger().warning))


def restart_dead_runs_if_lease_expired(store: Root, say: Say) -> None:
    """Restart dead runs as `restart_and_list_dead_runs` does, but only if some heartbeat is missing.

    Otherwise the server is not contacted, so that a process outside of a flow run can call this
    often.
    """
    if batch.list_runs_with_expired_lease(store):
        restart_and_list_dead_runs(store, timedelta(seconds=GRACE_SECONDS), say)


def restart_and_list_dead_runs(store: Root, grace: timedelta, say: Say) -> tuple[FlowRun, ...]:
    """Tell Prefect that runs without a heartbeat have crashed, then start them again.

    A run that was started again before is not started a third time. Return the dead runs.

    grace  how long a run may be without a first heartbeat
    """
    with get_client(sync_client=True) as client:
        dead = tuple(_list_dead_runs(client, store, grace))
        for run in dead:
            say(f'{run.name} has no heartbeat: its process is gone')
            crashed: State[None] = Crashed(message='no heartbeat: the process of this run is gone')
            client.set_flow_run_state(run.id, crashed, force=True)
            if AGAIN not in run.tags:
                schedule_run_again(client, run, AGAIN, [AGAIN])
    batch.remove_leases_of_dead_runs(store)
    return dead


def _list_dead_runs(client: SyncPrefectClient, store: Root, grace: timedelta) -> Iterator[FlowRun]:
    wanted = FlowRunFilter.model_validate(
        {'state': {'type': {'any_': _OPEN}}, 'tags': {'all_': [TAG]}}
    )
    now, living, silent = (
        datetime.now(tz=UTC),
        batch.list_living_runs(store),
        batch.list_runs_with_expired_lease(store),
    )
    for run in list_flow_runs(client, wanted):
        assert run.state is not None
        fresh = now - run.state.timestamp < grace
        known_dead = str(run.id) in silent or not fresh
        if known_dead and str(run.id) not in living | {str(this_run.id)}:
            yield run
