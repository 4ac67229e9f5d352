"""`mine`: one flow run for each batch of repositories."""

from __future__ import annotations

from prefect import flow
from prefect.client.schemas.objects import State

from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from flows.batches.batch import BatchJob, Verb
from flows.batches.contained import BatchLimits
from flows.live import heartbeat
from flows.live.batches import process_repositories
from flows.live.run_names import name_flow_run
from flows.live.trying import turn_errors_into_failed_states
from flows.live.worker_settings import check_engine_versions, load_worker_settings
from flows.months import find_month_end, parse_day
from flows.options import choose_walk, parse_families


@flow(name='mine', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def mine(
    repositories: list[str],
    profile: str = 'default',
    commits: int = 0,
    by_tasks: bool = False,
    month: str | None = None,
    since: str | None = None,
    reached: str | None = None,
    ref: str | None = None,
    walk: Walk | None = None,
    families: list[str] | None = None,
    name: str | None = None,
    again: bool = False,
    engine: dict[str, str] | None = None,
    hours: float = 24.0,
    memory_gib: float = 8.0,
) -> State[None]:
    """Mine some repositories: owner/name, URLs or paths.

    commits     number of newest commits to visit in each; 0 takes the profile's
    by_tasks    ever more commits while their tasks are cheap, in place of `commits`
    month       YYYY-MM; newer commits are left out. None is no limit
    since       YYYY-MM-DD; older commits are left out
    reached     YYYY-MM-DD, until when these copies have all commits; a release of a month needs it
    ref         where the walk starts; None for the default branch
    walk        the rule that makes pairs; None takes the profile's
    families    families of test files as they are, `class` and `file`, instead of changes; families
                of earlier runs stay
    name        the key in the data, owner/name, if one repository is mined; None takes it from the
                source
    again       execute once more what was mined, without the cache
    engine      the engine version that must execute; None takes the worker's
    hours       limit for each repository; a run that takes longer is ended and recorded as a
                failure
    memory_gib  limit for the process that mines; tests have limits of their own
    """
    check_engine_versions(engine)
    if name is not None and len(repositories) != 1:
        raise Fatal(f'{name} can be the name of one repository, not of {len(repositories)}')
    chosen_families = parse_families(families or ())
    choose_walk(walk, chosen_families, load_profile(profile))
    settings = load_worker_settings()
    job = BatchJob(
        verb=Verb.MINE,
        source='',
        store=str(settings.store),
        profile=profile,
        commits=commits,
        by_tasks=by_tasks,
        since=parse_day(since, end=False),
        reached=parse_day(reached, end=True),
        ref=ref,
        walk=walk,
        families=chosen_families,
        repo=name,
        again=again,
        until=find_month_end(month, heartbeat.now()) if month else None,
        jobs=settings.jobs,
        sandbox=settings.sandbox,
    )
    return process_repositories(
        repositories, job, BatchLimits(seconds=hours * 3600, memory_gib=memory_gib)
    )
