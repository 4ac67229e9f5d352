"""The reaper: end runs that Prefect believes to be running but that have no heartbeat.

Their slots become free. A run that was killed is started once more with the same parameters; the
store has the work that it completed. A run whose heartbeat has stopped is dead at once; a run that
never had one is dead after a while.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from prefect import flow, get_run_logger
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.runtime import flow_run as this_run
from prefect.states import Crashed

from coevo.model.listener import Say
from coevo.storage.place import Root
from flows.batches import batch
from flows.live.heartbeat import schedule_run_again
from flows.live.overdue import list_flow_runs, remove_overdue_runs
from flows.live.trying import turn_errors_into_failed_states
from flows.live.worker_settings import load_worker_settings

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
