"""`mine`: one flow run for each batch of repositories, one task for each repository."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from datetime import datetime
from datetime import timedelta

from prefect import flow
from prefect import get_run_logger
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.errors import Transient
from flows.batch import mine_repository
from flows.contained import Limits
from flows.jobs import Job
from flows.jobs import Outcome
from flows.jobs import Result
from flows.listener import Listener
from flows.live.artifacts import Progress
from flows.live.artifacts import show_results
from flows.live.heartbeat import living
from flows.live.reap import GRACE_SECONDS
from flows.live.reap import end_dead_runs
from flows.live.surroundings import check_engine
from flows.live.surroundings import surroundings
from flows.live.trying import DELAYS
from flows.live.trying import transient
from flows.months import end_of


@flow(name='mine', persist_result=False, validate_parameters=True)
def mine(
    repositories: list[str],
    profile: str = 'default',
    commits: int = 0,
    month: str | None = None,
    engine: int | None = None,
    hours: float = 24.0,
    memory_gib: float = 8.0,
) -> State[None]:
    """Mine some repositories: owner/name, URLs, paths, or OWNER/NAME=URL; `hours` are the most for each.

    commits  the newest to visit of each; 0 for as many as the profile says
    month    YYYY-MM; nothing that is newer is looked at. None is no limit
    engine   the version that is to execute; None for that of the worker
    """
    check_engine(engine)
    place = surroundings()
    job = Job(
        source='',
        store=str(place.store),
        profile=profile,
        commits=commits,
        until=end_of(month, datetime.now(tz=UTC)) if month else None,
        jobs=place.jobs,
        sandbox=place.sandbox,
    )
    limits = Limits(seconds=hours * 3600, memory_bytes=int(memory_gib * (1 << 30)))
    with living(place.store):
        end_dead_runs(place.store, timedelta(seconds=GRACE_SECONDS))
        progress = Progress(len(repositories))
        results = []
        for repository in repositories:
            results.append(_attempt(job.of(repository), limits, progress))
            progress.next_repository()
        show_results(results)
    return Completed(message=', '.join(_counts(results)))


def _attempt(job: Job, limits: Limits, progress: Progress) -> Result:
    """One repository; that its last try failed, too, is its own affair."""
    listener = Listener(step=progress.step, say=get_run_logger().info)
    named = _mine_one.with_options(task_run_name=job.name.replace('{', '{{').replace('}', '}}'))
    state = named(job, limits, listener, return_state=True)
    found = state.result(raise_on_failure=False)
    if isinstance(found, Transient):
        return Result(name=job.name, outcome=Outcome.TRANSIENT, sentence=str(found))
    if isinstance(found, BaseException):
        raise found
    assert isinstance(found, Result)
    return found


@task(
    retries=len(DELAYS),
    retry_delay_seconds=DELAYS,
    retry_condition_fn=transient,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def _mine_one(job: Job, limits: Limits, listener: Listener) -> Result:
    result = mine_repository(job, limits, listener)
    if result.outcome is Outcome.TRANSIENT:
        raise Transient(f'{result.name}: {result.sentence}')
    if result.outcome is not Outcome.MINED:
        get_run_logger().warning('%s: %s: %s', result.name, result.outcome, result.sentence)
    return result


def _counts(results: list[Result]) -> Iterator[str]:
    for outcome in Outcome:
        count = sum(result.outcome is outcome for result in results)
        if count:
            yield f'{count} {outcome}'
    executed = sum(result.answer.executed for result in results if result.answer)
    yield f'{executed} pairs executed'
