"""The walk: from a ref to pairs of adjacent revisions, and a reason for every other commit.

The four walks are the design's ("walk"). Nothing is checked out: one `git log` gives commits and
the Java files that differ from the first parent, trees answer the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from coevo.git import CorruptObject
from coevo.git import Repository
from coevo.reasons import Reason
from coevo.records import Commit
from coevo.records import Drop
from coevo.records import Pair
from coevo.records import Stage
from coevo.records import Walk

SUFFIX = '.java'


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a walk saw, newest first: every visited commit ends a pair or is a drop's key."""

    head: str
    visited: tuple[str, ...]
    pairs: tuple[Pair, ...]
    drops: tuple[Drop, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where to walk. `commits` counts those visited, None is all of them.

    until   commits with a later committer date are neither visited nor counted
    since   nor are those with an earlier one
    """

    repo: str
    walk: Walk
    ref: str
    commits: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def visit(repository: Repository, route: Route) -> Visit:
    """Walk a route. A commit that cannot be read is a drop and does not end the walk."""
    head = repository.resolve(route.ref)
    commits, unreadable = _log(repository, route, head)
    make = _states if route.walk is Walk.STATES else _parents
    found = list(make(repository, route, commits))
    pairs = tuple(item for item in found if isinstance(item, Pair))
    drops = (*unreadable, *(item for item in found if isinstance(item, Drop)))
    order = {commit.rev: place for place, commit in enumerate(commits)}
    return Visit(
        head=head,
        visited=(*(commit.rev for commit in commits), *(drop.key for drop in unreadable)),
        pairs=pairs,
        drops=tuple(sorted(drops, key=lambda drop: (order.get(drop.key, len(order)), drop.key))),
    )


def _log(
    repository: Repository, route: Route, head: str
) -> tuple[list[Commit], tuple[Drop, ...]]:
    """Commits in Git's default order, newest first, within the route's bounds."""
    options = ['--first-parent'] if route.walk is Walk.FIRST_PARENT else []
    commits: list[Commit] = []
    unreadable: list[Drop] = []
    for rev in repository.log(head, *options):
        if len(commits) + len(unreadable) == route.commits:
            break
        try:
            commit = repository.commit(rev)
        except CorruptObject as error:
            unreadable.append(_drop(route, rev, Reason.UNREADABLE_COMMIT, str(error)))
            continue
        if _within(route, commit):
            commits.append(commit)
    return commits, tuple(unreadable)


def _within(route: Route, commit: Commit) -> bool:
    """Whether a commit lies between the bounds; one without a date lies nowhere."""
    date = commit.committer_date
    if date is None:
        return route.since is None and route.until is None
    return (route.until is None or date <= route.until) and (
        route.since is None or date >= route.since
    )


# -- parents and first-parent ------------------------------------------------------------------


def _parents(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Each commit with its literal first parent."""
    for commit in commits:
        try:
            yield _with_parent(repository, route, commit)
        except CorruptObject as error:
            yield _drop(route, commit.rev, Reason.UNREADABLE_COMMIT, str(error))


def _with_parent(repository: Repository, route: Route, commit: Commit) -> Pair | Drop:
    if not commit.parents:
        return _drop(route, commit.rev, Reason.ROOT_COMMIT)
    parent = commit.parents[0]
    if not repository.differs(parent, commit.rev, SUFFIX):
        return _drop(route, commit.rev, Reason.NO_JAVA_CHANGE)
    is_merge = len(commit.parents) > 1
    if is_merge and route.walk is Walk.PARENTS and not _merged_by_hand(repository, commit):
        return _drop(route, commit.rev, Reason.MERGE_WITHOUT_CHANGE)
    return _pair(route, repository.commit(parent), commit, old_is_ancestor=True)


def _merged_by_hand(repository: Repository, merge: Commit) -> bool:
    """Whether a merge holds Java that Git would not have made of its parents by itself.

    Git cannot merge more than two parents again; an octopus has no conflicts to solve by hand,
    but may hold more: it is kept where its Java differs from every parent's.
    """
    if len(merge.parents) > 2:
        return all(repository.differs(parent, merge.rev, SUFFIX) for parent in merge.parents)
    return any(path.endswith(SUFFIX) for path in repository.remerge_diff(merge.rev))


# -- states ------------------------------------------------------------------------------------


def _states(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Runs of commits with identical Java files, each named by its newest; neighbours pair up."""
    newest: Commit | None = None
    state = None
    for commit in commits:
        try:
            found = java_state(repository, commit.rev)
        except CorruptObject as error:
            yield _drop(route, commit.rev, Reason.UNREADABLE_COMMIT, str(error))
            continue
        if newest is not None and found == state:
            yield _drop(route, commit.rev, Reason.SAME_JAVA_STATE)
            continue
        if newest is not None:
            related = repository.is_ancestor(commit.rev, newest.rev)
            yield _pair(route, commit, newest, old_is_ancestor=related)
        newest, state = commit, found
    if newest is not None:
        yield _drop(route, newest.rev, Reason.OLDEST_STATE)


def java_state(repository: Repository, rev: str) -> str:
    """A name for a revision's Java files: equal where paths and contents are equal."""
    digest = hashlib.sha256()
    for path, entry in repository.tree(rev).items():
        if path.endswith(SUFFIX):
            digest.update(f'{entry.oid} {path}\0'.encode('utf-8', 'surrogateescape'))
    return digest.hexdigest()


# -- records -----------------------------------------------------------------------------------


def _pair(route: Route, old: Commit, new: Commit, *, old_is_ancestor: bool) -> Pair:
    return Pair(
        repo=route.repo, walk=route.walk, old=old, new=new, old_is_ancestor=old_is_ancestor
    )


def _drop(route: Route, rev: str, reason: Reason, detail: str = '') -> Drop:
    return Drop(
        repo=route.repo,
        walk=route.walk,
        pair_id=None,
        stage=Stage.WALK,
        unit=Stage.WALK.unit,
        key=rev,
        reason=reason,
        detail=detail,
    )
