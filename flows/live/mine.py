"""`mine`: one flow run for each batch of repositories."""

from __future__ import annotations

from prefect import flow
from prefect.client.schemas.objects import State

from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from flows.batches.contained import BatchLimits
from flows.batches.jobs import BatchJob, Verb
from flows.live import clock
from flows.live.batches import process_repositories
from flows.live.worker_settings import check_engine, load_worker_settings
from flows.months import find_month_end, parse_day
from flows.options import choose_walk, parse_families


@flow(name='mine', persist_result=False)
def mine(
    repositories: list[str],
    profile: str = 'default',
    commits: int = 0,
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

    commits     the newest to visit of each; 0 for as many as the profile says
    month       YYYY-MM; nothing that is newer is looked at. None is no limit
    since       YYYY-MM-DD; nothing that is older is looked at
    reached     YYYY-MM-DD, until when these are copies that have all commits; a release of a month asks
    ref         where the walk starts; None for the default branch
    walk        which commits make a pair; None for as the profile says
    families    that look at test files as they stand, `class` and `file`, instead of changes; those that were
                asked for before stay
    name        the key in the data, owner/name, if one repository is mined; None for by its source
    again       execute once more what was mined, past what is known
    engine      the version that is to execute; None for that of the worker
    hours       the most for each repository; what takes longer is ended and kept as a failure
    memory_gib  the most for the process that mines it; tests have limits of their own
    """
    check_engine(engine)
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
        since=parse_day(since, end=False),
        reached=parse_day(reached, end=True),
        ref=ref,
        walk=walk,
        families=chosen_families,
        repo=name,
        again=again,
        until=find_month_end(month, clock.now()) if month else None,
        jobs=settings.jobs,
        sandbox=settings.sandbox,
    )
    return process_repositories(
        repositories, job, BatchLimits(seconds=hours * 3600, memory_gib=memory_gib)
    )
