"""`mine`: one flow run for each batch of repositories."""

from __future__ import annotations

from prefect import flow
from prefect.client.schemas.objects import State

from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from flows.batches.contained import BatchLimits
from flows.batches.jobs import BatchJob
from flows.batches.jobs import Verb
from flows.live import clock
from flows.live.batches import work_through
from flows.live.worker_settings import check_engine
from flows.live.worker_settings import worker_settings
from flows.months import day
from flows.months import end_of
from flows.options import families_of
from flows.options import walk_of


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
    engine: dict[str, int] | None = None,
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
    asked = families_of(families or ())
    walk_of(walk, asked, load_profile(profile))
    place = worker_settings()
    job = BatchJob(
        verb=Verb.MINE,
        source='',
        store=str(place.store),
        profile=profile,
        commits=commits,
        since=day(since, end=False),
        reached=day(reached, end=True),
        ref=ref,
        walk=walk,
        families=asked,
        repo=name,
        again=again,
        until=end_of(month, clock.now()) if month else None,
        jobs=place.jobs,
        sandbox=place.sandbox,
    )
    return work_through(repositories, job, BatchLimits(seconds=hours * 3600, memory_gib=memory_gib))
