"""`spread`: start the scheduled work, one flow run for each batch of the store's repositories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.deployments import run_deployment
from prefect.runtime import flow_run
from prefect.states import Completed

from coevo.languages.table import list_engine_versions
from flows import eligibility
from flows.batches.batch import Verb
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import TAG, list_requested_repositories, remove_overdue_runs
from flows.live.run_names import name_flow_run
from flows.live.trying import turn_errors_into_failed_states
from flows.live.worker_settings import load_worker_settings


@flow(name='spread', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def start_batch_runs(
    verb: Verb, size: int = 8, deployment: str = 'batch', parameters: dict[str, Any] | None = None
) -> State[None]:
    """Start a run of the verb's deployment for every `size` repositories, with these parameters.

    All candidates are validated, and the valid ones are mined, unless nothing was pushed since.
    Results in the store are not executed again. Repositories that batches of an earlier run have
    not done yet are left out. This run does not wait for the runs that it starts.
    """
    remove_overdue_runs()
    settings = load_worker_settings()
    store = settings.store
    run_parameters = {**(parameters or {}), 'engine': list_engine_versions()}
    with hold_run_lease_or_raise(store):
        due = eligibility.find_due_repositories(
            store, verb, run_parameters.get('profile'), settings.sandbox
        )
        if verb is Verb.MINE:
            eligibility.advance_unchanged_walks(store, due.unchanged)
        waiting = list_requested_repositories(store, f'{verb}/{deployment}', run_parameters) & {
            *due.repositories
        }
        batches = list(
            _split_batches(
                [repository for repository in due.repositories if repository not in waiting], size
            )
        )
        for number, batch in enumerate(batches):
            run_deployment(
                f'{verb}/{deployment}',
                parameters={**run_parameters, 'repositories': batch},
                timeout=0,
                as_subflow=False,
                tags=[TAG, str(verb)],
                # if this run is retried, the runs that it has started are not started twice
                idempotency_key=f'{flow_run.id}-{number}',
            )
    return Completed(
        message=f'repositories: {sum(map(len, batches))} in batches of at most {size}, '
        f'{len(due.unchanged)} without anything new, {len(waiting)} not done since they were asked for'
    )


def _split_batches(names: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(names), size):
        yield list(names[start : start + size])
