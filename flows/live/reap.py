"""The reaper: end what Prefect believes to be running though nobody has heard of it, and free its slot.

A run that was killed is started once more, with the same parameters; the store knows what it had done.
One whose heartbeat has stopped is dead at once, one that never had any after a while.
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
from flows.batches import claims
from flows.live.heartbeat import start_run_again
from flows.live.overdue import cancel_overdue_runs
from flows.live.worker_settings import load_worker_settings

TAG = 'coevo'
AGAIN = 'again'  # a run that the reaper has started; it is not started a third time

# From a state's beginning to the first heartbeat: the start of a process on a busy machine.
GRACE_SECONDS = 600.0
_OPEN = [StateType.PENDING.value, StateType.RUNNING.value, StateType.CANCELLING.value]


@flow(name='reap', log_prints=True)
def reap(grace_seconds: float = GRACE_SECONDS) -> int:
    """End all runs that are dead; how many."""
    cancel_overdue_runs()
    store, grace = load_worker_settings().store, timedelta(seconds=grace_seconds)
    return len(end_dead_runs(store, grace, get_run_logger().warning))


def end_silent_runs(store: Root, say: Say) -> None:
    """The same for who has no run and asks often: the server is asked nothing while all are heard of."""
    if claims.list_silent_runs(store):
        end_dead_runs(store, timedelta(seconds=GRACE_SECONDS), say)


def end_dead_runs(store: Root, grace: timedelta, say: Say) -> tuple[FlowRun, ...]:
    """Let Prefect know of runs without a heartbeat that they have crashed, then start them again."""
    with get_client(sync_client=True) as client:
        dead = tuple(_list_dead_runs(client, store, grace))
        for run in dead:
            say(f'{run.name} has no heartbeat: its process is gone')
            crashed: State[None] = Crashed(message='no heartbeat: the process of this run is gone')
            client.set_flow_run_state(run.id, crashed, force=True)
            if AGAIN not in run.tags:
                start_run_again(client, run, AGAIN, [AGAIN])
    claims.forget_dead_runs(store)
    return dead


def _list_dead_runs(client: SyncPrefectClient, store: Root, grace: timedelta) -> Iterator[FlowRun]:
    wanted = FlowRunFilter.model_validate(
        {'state': {'type': {'any_': _OPEN}}, 'tags': {'all_': [TAG]}}
    )
    now, living, silent = (
        datetime.now(tz=UTC),
        claims.list_living_runs(store),
        claims.list_silent_runs(store),
    )
    for run in client.read_flow_runs(flow_run_filter=wanted):
        assert run.state is not None
        fresh = now - run.state.timestamp < grace
        known_dead = str(run.id) in silent or not fresh
        if known_dead and str(run.id) not in living | {str(this_run.id)}:
            yield run
