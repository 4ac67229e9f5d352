"""When a method body may first have been public, over the whole history of one clone.

A commit proves that its content existed at its dates, and its descendants that it did at theirs;
the earliest of these counts. Where the evidence is cut off there is no date, which is never clean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.table import reading
from coevo.model.records import Commit
from packagers.bodies import Bodies
from packagers.bodies import read_bodies

BULK_TESTS = 200  # more test methods that one commit adds are an import
ROOT_TESTS = 20  # the same for a commit without a parent

_NOTHING = Bodies((), ())  # of a file that nobody here has
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HISTORY = ('rev-list', '--topo-order')
_PULLS = 'refs/pull/'
_ADDED_FILES = (
    *('diff-tree', '--stdin', '--root', '-m', '-r', '-z', '--raw'),
    *('--no-renames', '--no-abbrev', '--'),
)


class Basis(StrEnum):
    """What was searched."""

    WITH_PULLS = 'with_pulls'
    BRANCHES_ONLY = 'branches_only'
    SHALLOW = 'shallow'


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSeen:
    """Dates (UTC) by body hash. None where there is no telling, absent where it never stood."""

    basis: Basis
    dates: Mapping[str, datetime | None]


def first_seen(
    repository: Repository,
    language: str,
    bodies: Collection[str],
    *,
    crawled_at: datetime,
    cache_folder: Path,
    refs: Sequence[tuple[str, str]] | None = None,
) -> FirstSeen:
    """The date of each body (`Member.bare_hash`), searched in all refs of a clone, or in `refs`.

    It is the minimum over the commits in which the body stands, in any file of the language, of author date,
    committer date and the committer dates of descendants. It is None if a commit that brings the
    body in is a bulk import, or has a date that cannot be read or lies after `crawled_at`; and if
    the body may have stood before in a file that a partial clone lacks.
    """
    basis = _basis(repository, refs)
    if basis is Basis.SHALLOW or not bodies:
        return FirstSeen(basis=basis, dates=dict.fromkeys(sorted(bodies)))
    suffixes = reading(language).SUFFIXES
    history = _read_history(repository, suffixes, refs)
    # In the order of the history: neighbouring revisions share declarations, which are read once.
    added = dict.fromkeys(oid for change in history.changes for oid in change.added())
    lacked = added.keys() & repository.holes
    blobs = [oid for oid in added if oid not in lacked]
    read = read_bodies(repository, language, blobs, cache_folder=cache_folder)
    known = {**read, **dict.fromkeys(lacked, _NOTHING)}
    wanted = frozenset(bodies)
    holders = {oid: found for oid in blobs if (found := known[oid].all & wanted)}
    dates = _earliest_by_body(holders, _blob_dates(repository, history.commits, holders.keys()))
    unknown = _maybe_earlier(history, dates, lacked)
    for change in history.changes:
        undated = _is_undated(history.commits[change.rev], crawled_at)
        undated = undated or not lacked.isdisjoint(change.added())
        if undated or _is_bulk(repository, change, known, suffixes):
            unknown |= _brought_in(repository, change, known, suffixes) & wanted
    return FirstSeen(
        basis=basis,
        dates={b: None if b in unknown else dates[b] for b in sorted(dates.keys() | unknown)},
    )


def _maybe_earlier(
    history: _History, dates: Mapping[str, datetime | None], lacked: AbstractSet[str]
) -> set[str]:
    """Bodies that may have stood earlier, in a file which the clone lacks."""
    if not lacked:
        return set()
    proofs = _proofs(history.commits)
    since = min(
        proofs.get(change.rev, _EPOCH)
        for change in history.changes
        if not lacked.isdisjoint(change.added())
    )
    return {body for body, date in dates.items() if date is None or date > since}


def earliest(dates: Iterable[datetime | None]) -> datetime | None:
    """The minimum; None if any is None or there is none at all, since that is never clean."""
    known: list[datetime] = []
    for date in dates:
        if date is None:
            return None
        known.append(date)
    return min(known, default=None)


def _basis(repository: Repository, refs: Sequence[tuple[str, str]] | None) -> Basis:
    if (repository.git_dir / 'shallow').exists():
        return Basis.SHALLOW
    if refs is None:
        pulls = bool(repository.git('for-each-ref', '--count=1', _PULLS))
    else:
        pulls = any(name.startswith(_PULLS) for name, _ in refs)
    return Basis.WITH_PULLS if pulls else Basis.BRANCHES_ONLY


# -- history ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Difference:
    """Source files that differ from a parent: the blobs there and here, None where there is none."""

    files: tuple[tuple[str | None, str | None], ...]

    @property
    def added(self) -> tuple[str, ...]:
        return tuple(new for _, new in self.files if new is not None)

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(old for old, _ in self.files if old is not None)


@dataclass(frozen=True, slots=True)
class _Change:
    """A commit whose sources differ from each of its parents'; one difference for each of them."""

    rev: str
    parents: tuple[str, ...]
    differences: tuple[_Difference, ...]

    def added(self) -> Iterator[str]:
        return chain.from_iterable(difference.added for difference in self.differences)


@dataclass(frozen=True, slots=True)
class _History:
    """All commits, descendants before ancestors, and those that differ from all their parents.

    Every source blob of the history is in the latter: it came in somewhere.
    """

    commits: Mapping[str, Commit]
    changes: tuple[_Change, ...]


def _read_history(
    repository: Repository,
    suffixes: tuple[str, ...],
    refs: Sequence[tuple[str, str]] | None,
) -> _History:
    listing = _listing(repository, refs)
    commits = {rev: repository.commit(rev) for rev in listing.decode().split()}
    patterns = (f'*{suffix}' for suffix in suffixes)
    raw = repository.git(*_ADDED_FILES, *patterns, stdin=listing)
    changes = []
    for rev, differences in _group(raw):
        parents = commits[rev].parents
        if len(differences) == max(1, len(parents)):
            changes.append(_Change(rev, parents, tuple(differences)))
    return _History(commits, tuple(changes))


def _listing(repository: Repository, refs: Sequence[tuple[str, str]] | None) -> bytes:
    """Commits, a line each; what a clone that was made anew lacks of `refs` is left out."""
    if refs is None:
        return repository.git(*_HISTORY, '--all')
    tips = ''.join(f'{oid}\n' for oid in sorted({oid for _, oid in refs}))
    return repository.git(*_HISTORY, '--ignore-missing', '--stdin', stdin=tips.encode())


def _group(raw: bytes) -> Iterator[tuple[str, list[_Difference]]]:
    """Differences by commit; Git repeats a commit's id for each parent that it differs from."""
    current, differences = '', list[_Difference]()
    for rev, difference in _differences(raw):
        if rev != current and current:
            yield current, differences
            differences = []
        current = rev
        differences.append(difference)
    if current:
        yield current, differences


def _differences(raw: bytes) -> Iterator[tuple[str, _Difference]]:
    fields = iter(raw.split(b'\0')[:-1])
    rev, files = '', list[tuple[str | None, str | None]]()
    for field in fields:
        if not field.startswith(b':'):
            if rev:
                yield rev, _Difference(tuple(files))
            rev, files = field.decode(), []
            continue
        _, _, old, new, _ = field.decode().split()
        next(fields)  # the path
        files.append((old if old.strip('0') else None, new if new.strip('0') else None))
    if rev:
        yield rev, _Difference(tuple(files))


# -- dates -----------------------------------------------------------------------------------------


def _proofs(commits: Mapping[str, Commit]) -> dict[str, datetime]:
    """By commit: the earliest of its dates and its descendants' committer dates, if any is known.

    commits  descendants before ancestors
    """
    committed: dict[str, datetime] = {}
    proofs: dict[str, datetime] = {}
    for rev, commit in commits.items():
        known = [d for d in (_date(commit.committer_date), committed.get(rev)) if d is not None]
        if known:
            committed[rev] = min(known)
            for parent in commit.parents:
                committed[parent] = min(committed[rev], committed.get(parent, committed[rev]))
        author = _date(commit.author_date)
        known += [author] if author is not None else []
        if known:
            proofs[rev] = min(known)
    return proofs


def _blob_dates(
    repository: Repository, commits: Mapping[str, Commit], blobs: Collection[str]
) -> dict[str, datetime]:
    """By blob: the earliest proof of all commits whose trees hold it.

    Git lists every object once, under the first commit that reaches it: given the commits by
    their dates, that commit's is the minimum.
    """
    proofs = _proofs(commits)
    order = sorted(proofs, key=lambda rev: (proofs[rev], rev))
    listing = repository.git(
        *('rev-list', '--objects', '--no-walk=unsorted', '--in-commit-order', '--stdin'),
        '--missing=allow-any',
        stdin='\n'.join((*order, '')).encode(),
    )
    dates: dict[str, datetime] = {}
    current = _EPOCH
    for line in listing.split(b'\n'):
        oid = line[: line.find(b' ')].decode() if b' ' in line else line.decode()
        if oid in proofs:
            current = proofs[oid]
        elif oid in blobs:
            dates[oid] = current
    return dates


def _earliest_by_body(
    holders: Mapping[str, frozenset[str]], blob_dates: Mapping[str, datetime]
) -> dict[str, datetime | None]:
    dates: dict[str, datetime | None] = {}
    for oid, bodies in holders.items():
        date = blob_dates.get(oid)
        for body in bodies:
            before = dates.get(body)
            dates[body] = date if before is None or (date and date < before) else before
    return dates


def _date(date: datetime | None) -> datetime | None:
    """What is dated before the epoch was not dated by Git."""
    return date if date is not None and date >= _EPOCH else None


def _is_undated(commit: Commit, crawled_at: datetime) -> bool:
    dates = (_date(commit.author_date), _date(commit.committer_date))
    return any(date is None or date > crawled_at for date in dates)


# -- imports ---------------------------------------------------------------------------------------


def _is_bulk(
    repository: Repository,
    change: _Change,
    known: Mapping[str, Bodies],
    suffixes: tuple[str, ...],
) -> bool:
    limit = BULK_TESTS if change.parents else ROOT_TESTS
    # Bodies may stand in files that are the same at both ends: cheap bound first, then the trees.
    return (
        _count_tests(change, known, _new_to_files(change, known)) > limit
        and _count_tests(change, known, _brought_in(repository, change, known, suffixes)) > limit
    )


def _count_tests(change: _Change, known: Mapping[str, Bodies], bodies: Collection[str]) -> int:
    """How many of some bodies are tests that a commit adds, whichever parent it is held against.

    A test that takes the place of one which the file had before was edited, not added.
    """
    return min(
        sum(_count_in_file(known, old, new, bodies) for old, new in difference.files)
        for difference in change.differences
    )


def _count_in_file(
    known: Mapping[str, Bodies], old: str | None, new: str | None, bodies: Collection[str]
) -> int:
    after = known[new].tests if new is not None else ()
    before = known[old].tests if old is not None else ()
    gone = (Counter(before) - Counter(after)).total()
    return max(0, sum(body in bodies for body in after) - gone)


def _new_to_files(change: _Change, known: Mapping[str, Bodies]) -> frozenset[str]:
    """Bodies in changed files that none of the files they replace has, for every parent."""
    new = [
        _bodies(known, difference.added) - _bodies(known, difference.removed)
        for difference in change.differences
    ]
    return frozenset.intersection(*new)


def _brought_in(
    repository: Repository,
    change: _Change,
    known: Mapping[str, Bodies],
    suffixes: tuple[str, ...],
) -> frozenset[str]:
    """Bodies that stand in a commit and in none of its parents."""
    new = _new_to_files(change, known)
    for parent in change.parents:
        if not new:
            break
        files = repository.tree(parent).items()
        new -= _bodies(known, (entry.oid for path, entry in files if path.endswith(suffixes)))
    return new


def _bodies(known: Mapping[str, Bodies], blobs: Iterable[str]) -> frozenset[str]:
    return frozenset(chain.from_iterable(known[oid].all for oid in blobs))
