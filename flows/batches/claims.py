"""Claims in a store: a lease on a repository for whoever mines it, and one of each flow run that lives.

    STORE/claims/repositories/OWNER+NAME.json
    STORE/claims/runs/ID.json

A claim keeps machines from doing the same work twice. What they write does not rest on it.
"""

from __future__ import annotations

from coevo.storage.leases import list_lease_states
from coevo.storage.place import Root, encode_folder_name
from coevo.storage.places import open_place

_REPOSITORIES, _RUNS = 'claims/repositories', 'claims/runs'


def name_repository_claim(repo: str) -> str:
    """The name of the lease on a repository."""
    return f'{_REPOSITORIES}/{encode_folder_name(repo)}.json'


def name_run_claim(run_id: str) -> str:
    """The name of the lease by which a flow run says that it lives."""
    return f'{_RUNS}/{run_id}.json'


def list_living_runs(store: Root) -> frozenset[str]:
    """The ids of the flow runs that have been heard of within their lease."""
    run_leases = list_lease_states(open_place(store), _RUNS)
    return frozenset(_parse_run_id(lease.name) for lease in run_leases if lease.seconds_left >= 0)


def list_silent_runs(store: Root) -> frozenset[str]:
    """The ids of those that were heard of, and are no more, though they gave nothing back."""
    run_leases = list_lease_states(open_place(store), _RUNS)
    return frozenset(_parse_run_id(lease.name) for lease in run_leases if lease.seconds_left < 0)


def forget_dead_runs(store: Root) -> None:
    """Remove the leases of runs that are over; no run ever takes one of these again."""
    storage, living = open_place(store), list_living_runs(store)
    storage.remove_files(
        entry.name for entry in storage.list_files(_RUNS) if _parse_run_id(entry.name) not in living
    )


def _parse_run_id(name: str) -> str:
    return name.removeprefix(f'{_RUNS}/').partition('.')[0]
