"""Claims in a store: a lease on a repository for whoever mines it, and one of each flow run that lives.

    STORE/claims/repositories/OWNER+NAME.json
    STORE/claims/runs/ID.json

A claim keeps machines from doing the same work twice. What they write does not rest on it.
"""

from __future__ import annotations

from coevo.storage.leases import standings
from coevo.storage.place import Root
from coevo.storage.place import folder_name
from coevo.storage.places import place_of

_REPOSITORIES, _RUNS = 'claims/repositories', 'claims/runs'


def of_repository(repo: str) -> str:
    """The name of the lease on a repository."""
    return f'{_REPOSITORIES}/{folder_name(repo)}.json'


def of_run(run_id: str) -> str:
    """The name of the lease by which a flow run says that it lives."""
    return f'{_RUNS}/{run_id}.json'


def living_runs(store: Root) -> frozenset[str]:
    """The ids of the flow runs that have been heard of within their lease."""
    found = standings(place_of(store), _RUNS)
    return frozenset(_run_id(one.name) for one in found if one.left >= 0)


def silent_runs(store: Root) -> frozenset[str]:
    """The ids of those that were heard of, and are no more, though they gave nothing back."""
    found = standings(place_of(store), _RUNS)
    return frozenset(_run_id(one.name) for one in found if one.left < 0)


def forget_dead_runs(store: Root) -> None:
    """Remove the leases of runs that are over; no run ever takes one of these again."""
    place, living = place_of(store), living_runs(store)
    place.remove(one.name for one in place.entries(_RUNS) if _run_id(one.name) not in living)


def _run_id(name: str) -> str:
    return name.removeprefix(f'{_RUNS}/').partition('.')[0]
