"""The bounds of a walk, the pairs and drops that it makes of commits, the latest release, and the
walk of single revisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from coevo.git.repository import CorruptObject, Repository
from coevo.languages.table import get_reading
from coevo.model.errors import Fatal
from coevo.model.reasons import Reason
from coevo.model.records import Commit, Drop, Pair
from coevo.model.words import Stage, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The bounds of a walk.

    commits  the number of commits to visit; None visits all
    until    commits with a later committer date are neither visited nor counted
    since    commits with an earlier committer date are neither visited nor counted
    beside_release  whether the walk `single_revision` visits the latest release, too
    """

    repo: str
    language: str
    walk: Walk
    ref: str
    commits: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    beside_release: bool = False
    pair_id: ClassVar[None] = None  # a drop of a walk belongs to no pair

    def is_code(self, path: str) -> bool:
        """Return whether a file is written in the language of the walk."""
        return path.endswith(self.suffixes)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of source files in the language of the walk."""
        return get_reading(self.language).SUFFIXES

    def make_pair(
        self, old: Commit, new: Commit, *, old_is_ancestor: bool, between: tuple[str, ...] = ()
    ) -> Pair:
        """Return a pair of this walk."""
        return Pair(
            repo=self.repo,
            language=self.language,
            walk=self.walk,
            old=old,
            new=new,
            old_is_ancestor=old_is_ancestor,
            between=between,
        )

    def make_unreadable_drop(self, repository: Repository, rev: str, error: CorruptObject) -> Drop:
        """Return the drop of a commit with an object that cannot be read.

        The reason is `object_missing` if the clone's source lacks the object, else
        `unreadable_commit`.
        """
        lacked = error.name in repository.object_ids_absent_at_source
        reason = Reason.OBJECT_MISSING if lacked else Reason.UNREADABLE_COMMIT
        return self.make_drop(rev, reason, str(error))

    def make_drop(self, rev: str, reason: Reason, detail: str = '') -> Drop:
        """Return the drop of a commit with a reason."""
        return Drop.make_drop_at_stage(Stage.WALK, self, rev, reason, detail)


_TAGS = 'refs/tags/'

# A version at the end of a tag's name: v5.1.1, shop-1.22.1, parent-4.16, release/2.0.0.Final.
_VERSION = re.compile(
    r'(?:^|[^\d.])(?P<numbers>\d+(?:[._]\d+)*)(?:[._-](?:final|ga|release))?$', re.IGNORECASE
)

# Commits before a date are often released soon after it: the versions of published tasks are up to
# 26 days younger than the newest commit that was requested.
_LAG = timedelta(days=31)

# Numbers from here on are years or days, which do not order releases reliably.
_NO_VERSION = 1900


def find_latest_release(repository: Repository, until: datetime | None = None) -> str | None:
    """Return the ref of the tag with the highest version; None if no tag has a version.

    Pre-releases do not count, nor do tags whose commit is more than 31 days younger than `until`.
    Tags that are named by dates count only if there are no others.
    """
    releases = [
        release
        for release in _list_releases(repository)
        if until is None or release[1] - _LAG <= until
    ]
    versions = [release for release in releases if release[0][0] < _NO_VERSION]
    return max(versions or releases)[2] if releases else None


def _list_releases(repository: Repository) -> Iterator[tuple[tuple[int, ...], datetime, str]]:
    """Yield version, date and ref of each tag that is a release.

    Their order is that of versions; dates and names decide between equal versions.
    """
    listing = repository.run_command('for-each-ref', '--format=%(refname)', _TAGS)
    for ref in listing.decode('utf-8', 'surrogateescape').splitlines():
        match = _VERSION.search(ref.removeprefix(_TAGS))
        date = _load_date(repository, ref) if match else None
        if match and date is not None:
            numbers = tuple(int(part) for part in re.split('[._]', match['numbers']))
            yield numbers, date, ref


def _load_date(repository: Repository, ref: str) -> datetime | None:
    """Return the committer date of a tag's commit; None if the tag does not lead to a commit."""
    try:
        return repository.get_commit(repository.resolve(ref)).committer_date
    except Fatal:
        return None


def list_head_and_release(
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


# The walk `single_revision`: pair a few revisions with themselves.
#
# Its tasks are about no change.


def pair_with_themselves(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Yield each commit paired with itself; it counts as its own ancestor."""
    return (route.make_pair(commit, commit, old_is_ancestor=True) for commit in commits)
