"""Walk from a ref to pairs of adjacent revisions, with a reason for every other commit.

The walks are those of docs/evidence.md. Nothing is checked out: commit and tree objects suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from coevo.git.repository import CorruptObject, FileChange, Repository
from coevo.model.reasons import Reason
from coevo.model.records import Commit, Drop, Pair
from coevo.model.words import Walk
from miners.walks.routes import Route, list_head_and_release, pair_with_themselves
from miners.walks.states import pair_neighbouring_states, pair_states_in_window

__all__ = ['Route', 'Visit', 'visit_route']

_MAKERS = {
    Walk.STATES: pair_neighbouring_states,
    Walk.WINDOW: pair_states_in_window,
    Walk.SINGLE_REVISION: pair_with_themselves,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The result of a walk, newest first.

    Every visited commit ends a pair or is the key of a drop.
    """

    head: str
    visited: tuple[str, ...]
    pairs: tuple[Pair, ...]
    drops: tuple[Drop, ...]


def visit_route(repository: Repository, route: Route) -> Visit:
    """Walk a route, and return the visited commits, the pairs and the drops.

    A commit that cannot be read becomes a drop and does not end the walk.
    """
    head = repository.resolve(route.ref)
    log = list_head_and_release if route.walk is Walk.SINGLE_REVISION else _list_route_commits
    visited = dict(log(repository, route, head))
    commits = [commit for commit in visited.values() if commit is not None]
    pairs_and_drops = list(_MAKERS.get(route.walk, _pair_with_parents)(repository, route, commits))
    pairs_and_drops += [
        route.make_drop(rev, Reason.UNREADABLE_COMMIT) for rev in visited if visited[rev] is None
    ]
    positions = {rev: number for number, rev in enumerate(visited)}
    return Visit(
        head=head,
        visited=tuple(visited),
        pairs=tuple(item for item in pairs_and_drops if isinstance(item, Pair)),
        drops=tuple(
            sorted(
                (i for i in pairs_and_drops if isinstance(i, Drop)),
                key=lambda drop: positions[drop.key],
            )
        ),
    )


def _list_route_commits(
    repository: Repository, route: Route, head: str
) -> Iterator[tuple[str, Commit | None]]:
    """Yield commits within the route's bounds in Git's default order, newest first.

    The commit is None if it cannot be read.
    """
    log = repository.iterate_log(head, first_parent=route.walk is Walk.FIRST_PARENT)
    commits = ((rev, header.commit if header else None) for rev, header in log)
    return islice(
        (item for item in commits if _is_within_or_unreadable(route, item[1])), route.commits
    )


def _is_within_or_unreadable(route: Route, commit: Commit | None) -> bool:
    """Return whether a commit is within the bounds; a commit without a valid date is not."""
    if commit is None:
        return True
    date = commit.committer_date
    if date is None:
        return route.since is None and route.until is None
    return (route.until is None or date <= route.until) and (
        route.since is None or date >= route.since
    )


# -- parents and first-parent ------------------------------------------------------------------


def _pair_with_parents(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Yield each commit paired with its first parent, or a drop with the reason why not."""
    merges = [c.rev for c in commits if len(c.parents) == 2 and route.walk is Walk.PARENTS]
    remerged = repository.list_remerge_differences(merges)
    for commit in commits:
        try:
            yield _pair_with_parent(repository, route, commit, remerged)
        except CorruptObject as error:
            yield route.make_unreadable_drop(repository, commit.rev, error)


def _pair_with_parent(
    repository: Repository, route: Route, commit: Commit, remerged: Mapping[str, Sequence[str]]
) -> Pair | Drop:
    if not commit.parents:
        return route.make_drop(commit.rev, Reason.ROOT_COMMIT)
    parent = repository.get_commit(commit.parents[0])
    changes = _list_code_changes(repository, route, parent, commit)
    if not changes:
        return route.make_drop(commit.rev, Reason.NO_CODE_CHANGE)
    if len(commit.parents) > 1 and route.walk is Walk.PARENTS:
        by_hand = _list_files_merged_by_hand(repository, commit, remerged)
        if not any(map(route.is_code, by_hand)):
            return route.make_drop(commit.rev, Reason.MERGE_WITHOUT_CHANGE)
    _check_changed_files_readable(repository, changes)
    return route.make_pair(parent, commit, old_is_ancestor=True)


def _list_files_merged_by_hand(
    repository: Repository, merge: Commit, remerged: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """Return the files of a merge that differ from Git's automatic merge of its parents.

    Git cannot repeat a merge of more than two parents; in that case, return the files that differ
    from every parent.
    """
    if len(merge.parents) > 2:
        return repository.list_combined_changes(merge.rev)
    if merge.rev not in remerged:
        raise CorruptObject(merge.rev)
    return remerged[merge.rev]


def _list_code_changes(
    repository: Repository, route: Route, old: Commit, new: Commit
) -> list[FileChange]:
    changes = repository.list_changes(old.rev, new.rev)
    return [c for c in changes if route.is_code(c.path) and c.old_oid != c.new_oid]


def _check_changed_files_readable(repository: Repository, changes: Sequence[FileChange]) -> None:
    """Read the changed files, so that a corrupt object shows now.

    Raises: CorruptObject.
    """
    for change in changes:
        for oid in (change.old_oid, change.new_oid):
            if oid is not None:
                repository.blob(oid)
