"""The walk: from a ref to pairs of adjacent revisions, and a reason for every other commit.

The walks are the design's ("walk"). Nothing is checked out: commit and tree objects answer all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from coevo.git import CorruptObject
from coevo.git import FileChange
from coevo.git import Repository
from coevo.git_objects import FOLDER
from coevo.git_objects import SUBMODULE
from coevo.reasons import Reason
from coevo.records import Commit
from coevo.records import Drop
from coevo.records import Pair
from coevo.records import Stage
from coevo.records import Walk

SUFFIX = '.java'
_UNREADABLE = Reason.UNREADABLE_COMMIT


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
    visited = dict(_log(repository, route, head))
    commits = [commit for commit in visited.values() if commit is not None]
    make = _states if route.walk is Walk.STATES else _parents
    found = list(make(repository, route, commits))
    found += [_drop(route, rev, _UNREADABLE) for rev in visited if visited[rev] is None]
    place = {rev: number for number, rev in enumerate(visited)}
    return Visit(
        head=head,
        visited=tuple(visited),
        pairs=tuple(item for item in found if isinstance(item, Pair)),
        drops=tuple(
            sorted((i for i in found if isinstance(i, Drop)), key=lambda drop: place[drop.key])
        ),
    )


def _log(repository: Repository, route: Route, head: str) -> Iterator[tuple[str, Commit | None]]:
    """Commits in Git's default order, newest first, within the route's bounds; None: unreadable."""
    log = repository.log(head, first_parent=route.walk is Walk.FIRST_PARENT)
    commits = ((rev, header.commit if header else None) for rev, header in log)
    return islice((item for item in commits if _within(route, item[1])), route.commits)


def _within(route: Route, commit: Commit | None) -> bool:
    """Whether a commit lies between the bounds; one with a date out of range does not."""
    if commit is None:
        return True
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
    merges = [c.rev for c in commits if len(c.parents) == 2 and route.walk is Walk.PARENTS]
    remerged = repository.remerged(merges)
    for commit in commits:
        try:
            yield _with_parent(repository, route, commit, remerged)
        except CorruptObject as error:
            yield _drop(route, commit.rev, _UNREADABLE, str(error))


def _with_parent(
    repository: Repository, route: Route, commit: Commit, remerged: Mapping[str, Sequence[str]]
) -> Pair | Drop:
    if not commit.parents:
        return _drop(route, commit.rev, Reason.ROOT_COMMIT)
    parent = repository.commit(commit.parents[0])
    changes = _java_changes(repository, parent, commit)
    if not changes:
        return _drop(route, commit.rev, Reason.NO_JAVA_CHANGE)
    if len(commit.parents) > 1 and route.walk is Walk.PARENTS:
        by_hand = _merged_by_hand(repository, commit, remerged)
        if not any(path.endswith(SUFFIX) for path in by_hand):
            return _drop(route, commit.rev, Reason.MERGE_WITHOUT_CHANGE)
    _read(repository, changes)
    return _pair(route, parent, commit, old_is_ancestor=True)


def _merged_by_hand(
    repository: Repository, merge: Commit, remerged: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """The files of a merge that Git would not have made of its parents by itself.

    Git cannot merge more than two parents again: there, those that differ from every parent.
    """
    if len(merge.parents) > 2:
        return repository.combined(merge.rev)
    if merge.rev not in remerged:
        raise CorruptObject(merge.rev)
    return remerged[merge.rev]


def _java_changes(repository: Repository, old: Commit, new: Commit) -> list[FileChange]:
    changes = repository.changed(old.rev, new.rev)
    return [c for c in changes if c.path.endswith(SUFFIX) and c.old_oid != c.new_oid]


def _read(repository: Repository, changes: Sequence[FileChange]) -> None:
    """Find out now whether what the pair is about can be read."""
    for change in changes:
        for oid in (change.old_oid, change.new_oid):
            if oid is not None:
                repository.blob(oid)


# -- states ------------------------------------------------------------------------------------


def _states(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Runs of commits with identical Java files, each named by its newest; neighbours pair up."""
    place = {commit.rev: number for number, commit in enumerate(commits)}
    state_of = _JavaStates(repository)
    newest, state = None, ''
    for commit in commits:
        try:
            found = state_of(commit)
            if newest is not None and found == state:
                yield _drop(route, commit.rev, Reason.SAME_JAVA_STATE)
                continue
        except CorruptObject as error:
            yield _drop(route, commit.rev, _UNREADABLE, str(error))
            continue
        if newest is not None:
            related = _is_ancestor(repository, commit, newest, commits, place)
            yield _pair(route, commit, newest, old_is_ancestor=related)
        newest, state = commit, found
    if newest is not None:
        yield _drop(route, newest.rev, Reason.OLDEST_STATE)


class _JavaStates:
    """Names the Java files of a commit: equal where paths and contents are equal.

    Known by tree object, so what two commits share is read once. All files are read, to find out
    now whether they can be.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._known: dict[str, str] = {}
        self._sound: set[str] = set()

    def __call__(self, commit: Commit) -> str:
        return self._of_tree(self._repository.header(commit.rev).tree)

    def _of_tree(self, tree: str) -> str:
        """Empty where there are none."""
        if tree not in self._known:
            parts = []
            for mode, name, oid in self._repository.folder(tree):
                if mode == FOLDER:
                    if below := self._of_tree(oid):
                        parts.append(f'{name}/{below}')
                elif mode != SUBMODULE and name.endswith(SUFFIX):
                    self._check(oid)
                    parts.append(f'{name}\0{oid}')
            text = '\0'.join(parts).encode('utf-8', 'surrogateescape')
            self._known[tree] = hashlib.sha256(text).hexdigest() if parts else ''
        return self._known[tree]

    def _check(self, blob: str) -> None:
        if blob not in self._sound:
            self._repository.blob(blob)
            self._sound.add(blob)


def _is_ancestor(
    repository: Repository,
    old: Commit,
    new: Commit,
    commits: Sequence[Commit],
    place: Mapping[str, int],
) -> bool:
    """Look among the commits between the two first; only Git can tell for sure that it is none."""
    waiting, seen = [new.rev], {new.rev}
    while waiting:
        rev = waiting.pop()
        if rev == old.rev:
            return True
        for parent in commits[place[rev]].parents:
            if parent not in seen and place.get(parent, len(commits)) <= place[old.rev]:
                seen.add(parent)
                waiting.append(parent)
    return repository.is_ancestor(old.rev, new.rev)


# -- records -----------------------------------------------------------------------------------


def _pair(route: Route, old: Commit, new: Commit, *, old_is_ancestor: bool) -> Pair:
    return Pair(repo=route.repo, walk=route.walk, old=old, new=new, old_is_ancestor=old_is_ancestor)


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
