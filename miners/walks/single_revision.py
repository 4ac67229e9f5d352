"""The walk `single_revision`: pair a few revisions with themselves.

Its tasks are about no change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coevo.git.repository import CorruptObject, Repository
from coevo.model.drops import Drop
from coevo.model.records import Commit, Pair
from miners.walks.releases import find_latest_release
from miners.walks.routes import Route


def log_single_revisions(
    repository: Repository, route: Route, head: str
) -> Iterator[tuple[str, Commit | None]]:
    """Yield the head and, if the route demands it, the latest release, each once.

    The commit is None if it cannot be read.
    """
    release = find_latest_release(repository, route.until) if route.beside_release else None
    revs = (head,) if release is None else (head, repository.resolve(release))
    for rev in dict.fromkeys(revs):
        try:
            yield rev, repository.get_commit(rev)
        except CorruptObject:
            yield rev, None


def pair_with_themselves(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Yield each commit paired with itself; it counts as its own ancestor."""
    return (route.make_pair(commit, commit, old_is_ancestor=True) for commit in commits)
