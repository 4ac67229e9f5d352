"""Load a clone's commits with their dates and the files in which they differ from parents.

Only the files of one language are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from coevo.git.objects import parse_commit
from coevo.git.process import CorruptObject, stream_ids_and_contents
from coevo.git.repository import Repository
from coevo.model.records import Commit

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ADDED_FILES = (
    *('diff-tree', '--stdin', '--root', '-m', '-r', '-z', '--raw'),
    *('--no-renames', '--no-abbrev', '--'),
)

Graph = Mapping[str, Commit]
"""Commits by id, descendants before ancestors."""


@dataclass(frozen=True, slots=True)
class ParentDifference:
    """The files in which a commit differs from one parent.

    Each is (blob there, blob here); None where there is no file.
    """

    files: tuple[tuple[str | None, str | None], ...]

    @property
    def added_blobs(self) -> tuple[str, ...]:
        """The blobs of the files that the commit added or changed."""
        return tuple(new for _, new in self.files if new is not None)

    @property
    def removed_blobs(self) -> tuple[str, ...]:
        """The blobs of the parent's files that the commit changed or removed."""
        return tuple(old for old, _ in self.files if old is not None)


@dataclass(frozen=True, slots=True)
class CommitChange:
    """A commit whose files differ from every parent, with one difference for each parent."""

    rev: str
    parents: tuple[str, ...]
    differences: tuple[ParentDifference, ...]

    @property
    def added_blobs(self) -> tuple[str, ...]:
        """The blobs that are new relative to every parent, in the order of paths."""
        first, *others = (dict.fromkeys(difference.added_blobs) for difference in self.differences)
        return tuple(oid for oid in first if all(oid in other for other in others))

    @property
    def differing_blobs(self) -> frozenset[str]:
        """All blobs that differ, of the commit and of its parents."""
        ends = chain.from_iterable(difference.files for difference in self.differences)
        return frozenset(oid for oid in chain.from_iterable(ends) if oid is not None)


def load_graph(repository: Repository, tips: Collection[str]) -> dict[str, Commit]:
    """Return all commits that can be reached from the tips, without tips that the clone lacks.

    Raises: CorruptObject if a commit cannot be read.
    """
    tip_lines = ''.join(f'{oid}\n' for oid in sorted(tips))
    options = ('--topo-order', '--ignore-missing', '--stdin')
    revs = repository.run_command('rev-list', *options, stdin=tip_lines.encode()).decode().split()
    commits = {}
    for rev, content in stream_ids_and_contents(repository.git_dir, revs):
        try:
            commits[rev] = parse_commit(rev, content).commit
        except ValueError as error:
            raise CorruptObject(rev) from error
    return commits


def load_changes(
    repository: Repository, graph: Graph, revs: Collection[str], suffixes: Sequence[str]
) -> tuple[CommitChange, ...]:
    """Return the commits among `revs` that differ from all their parents in files of a language.

    Only such a commit can introduce a body.
    """
    if not revs:
        return ()
    patterns = (f'*{suffix}' for suffix in suffixes)
    listing = ''.join(f'{rev}\n' for rev in revs).encode()
    changes = []
    for rev, differences in _group_by_commit(
        repository.run_command(*_ADDED_FILES, *patterns, stdin=listing)
    ):
        parents = graph[rev].parents
        if len(differences) == max(1, len(parents)):
            changes.append(CommitChange(rev, parents, tuple(differences)))
    return tuple(changes)


def date_commits(graph: Graph) -> dict[str, datetime]:
    """Return the time by which each commit's content existed at the latest.

    It is the earliest of the commit's two dates and the committer dates of its descendants. A
    commit without any readable date is left out. Author dates of descendants do not count: a rebase
    keeps them.
    """
    committed: dict[str, datetime] = {}
    dates: dict[str, datetime] = {}
    for rev, commit in graph.items():
        known = [
            d
            for d in (_drop_early_date(commit.committer_date), committed.get(rev))
            if d is not None
        ]
        if known:
            committed[rev] = min(known)
            for parent in commit.parents:
                committed[parent] = min(committed[rev], committed.get(parent, committed[rev]))
        author = _drop_early_date(commit.author_date)
        known += [author] if author is not None else []
        if known:
            dates[rev] = min(known)
    return dates


def has_unusable_date(commit: Commit, crawled_at: datetime) -> bool:
    """Return whether a date of a commit is unreadable or later than the crawl that fetched it.

    Then its dates prove nothing.
    """
    dates = (_drop_early_date(commit.author_date), _drop_early_date(commit.committer_date))
    return any(date is None or date > crawled_at for date in dates)


def find_reachable(graph: Graph, tips: Collection[str]) -> frozenset[str]:
    """Return the commits of a graph that can be reached from the tips."""
    known = set(tips) & graph.keys()
    for rev, commit in graph.items():
        if rev in known:
            known.update(commit.parents)
    return frozenset(known & graph.keys())


def _drop_early_date(date: datetime | None) -> datetime | None:
    """Return a date, or None if it is before the epoch, since Git writes no such dates."""
    return date if date is not None and date >= EPOCH else None


def _group_by_commit(raw: bytes) -> Iterator[tuple[str, list[ParentDifference]]]:
    """Yield each commit with its differences, one for each parent from which it differs.

    Git repeats the commit's id for each such parent.
    """
    current, differences = '', list[ParentDifference]()
    for rev, difference in _parse_differences(raw):
        if rev != current and current:
            yield current, differences
            differences = []
        current = rev
        differences.append(difference)
    if current:
        yield current, differences


def _parse_differences(raw: bytes) -> Iterator[tuple[str, ParentDifference]]:
    fields = iter(raw.split(b'\0')[:-1])
    rev, files = '', list[tuple[str | None, str | None]]()
    for field in fields:
        if not field.startswith(b':'):
            if rev:
                yield rev, ParentDifference(tuple(files))
            rev, files = field.decode(), []
            continue
        _, _, old, new, _ = field.decode().split()
        next(fields)  # the path
        files.append((old if old.strip('0') else None, new if new.strip('0') else None))
    if rev:
        yield rev, ParentDifference(tuple(files))
