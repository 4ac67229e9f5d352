"""Find the latest release of a repository, and pair a few revisions with themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from coevo.git.repository import CorruptObject, Repository
from coevo.model.drops import Drop
from coevo.model.errors import Fatal
from coevo.model.records import Commit, Pair
from miners.walks.routes import Route

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


def pair_with_themselves(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Yield each commit paired with itself; it counts as its own ancestor."""
    return (route.make_pair(commit, commit, old_is_ancestor=True) for commit in commits)
