"""`validate`: one flow run for each batch of repositories."""

from __future__ import annotations

from prefect import flow
from prefect.client.schemas.objects import State

from flows.batches.batch import BatchJob, Verb
from flows.batches.contained import BatchLimits
from flows.live.batches import process_repositories
from flows.live.run_names import name_flow_run
from flows.live.trying import turn_errors_into_failed_states
from flows.live.worker_settings import check_engine_versions, load_worker_settings


@flow(name='validate', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def validate(
    repositories: list[str],
    engine: dict[str, str] | None = None,
    hours: float = 3.0,
    memory_gib: float = 8.0,
) -> State[None]:
    """Find out for some repositories whether they can be mined.

    A revision with a current result is not run again.
    """
    check_engine_versions(engine)
    settings = load_worker_settings()
    job = BatchJob(
        verb=Verb.VALIDATE, source='', store=str(settings.store), sandbox=settings.sandbox
    )
    return process_repositories(
        repositories, job, BatchLimits(seconds=hours * 3600, memory_gib=memory_gib)
    )
