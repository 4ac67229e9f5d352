"""Claims in a store: a lease on each repository being mined, and one for each live flow run.

    STORE/claims/repositories/OWNER+NAME.json
    STORE/claims/runs/ID.json

A claim keeps machines from doing the same work twice. The correctness of the data does not depend
on it.
"""

from __future__ import annotations

from coevo.storage.leases import list_lease_states
from coevo.storage.place import Root, decode_folder_name, encode_folder_name
from coevo.storage.places import open_place

_REPOSITORIES, _RUNS = 'claims/repositories', 'claims/runs'


def name_repository_claim(repo: str) -> str:
    """Return the name of the lease on a repository."""
    return f'{_REPOSITORIES}/{encode_folder_name(repo)}.json'


def name_run_claim(run_id: str) -> str:
    """Return the name of the lease that shows that a flow run is alive."""
    return f'{_RUNS}/{run_id}.json'


def list_claimed_repositories(store: Root) -> frozenset[str]:
    """Return the names of the repositories that a living process has claimed.

    A repository without a known name is claimed by its address.
    """
    leases = list_lease_states(open_place(store), _REPOSITORIES)
    return frozenset(
        decode_folder_name(lease.name.removeprefix(f'{_REPOSITORIES}/').removesuffix('.json'))
        for lease in leases
        if lease.seconds_left >= 0
    )


def list_living_runs(store: Root) -> frozenset[str]:
    """Return the ids of the flow runs whose lease has not expired."""
    run_leases = list_lease_states(open_place(store), _RUNS)
    return frozenset(_parse_run_id(lease.name) for lease in run_leases if lease.seconds_left >= 0)


def list_silent_runs(store: Root) -> frozenset[str]:
    """Return the ids of the flow runs whose lease expired without being released.

    Their processes are taken for dead.
    """
    run_leases = list_lease_states(open_place(store), _RUNS)
    return frozenset(_parse_run_id(lease.name) for lease in run_leases if lease.seconds_left < 0)


def remove_leases_of_dead_runs(store: Root) -> None:
    """Remove the leases of all runs that do not live, released or expired.

    No run takes such a lease again.
    """
    storage, living = open_place(store), list_living_runs(store)
    storage.remove_files(
        entry.name for entry in storage.list_files(_RUNS) if _parse_run_id(entry.name) not in living
    )


def _parse_run_id(name: str) -> str:
    return name.removeprefix(f'{_RUNS}/').partition('.')[0]
