"""The clones of a store: one opened for a run, few at once for a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Protocol, Self

from coevo.git.clones import LazyMapping, RepositoryPool
from coevo.git.repository import CorruptObject, Repository
from coevo.model.listener import Listener
from coevo.storage.clone_folders import ClonePins
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from flows.eligibility import check_not_withdrawn
from flows.licence import find_spdx_expression, is_silent_on_licences, list_licence_and_notice_files
from miners.cloning.clones import Clone, find_default_name, pin_clone, pin_existing_clone
from miners.cloning.mirror_git import (
    count_source_files_and_lines,
    list_clone_refs,
    load_crawl_time,
    record_clone_refs,
)
from miners.cloning.remotes import FetchLimits
from miners.dates.clone_search import SearchedClone
from packagers.licensing import LicenceFile

# Open the clone of a repository for a run.
#
# The clone is obtained, its crawl recorded, and it is protected from eviction.


class WantedClone(Protocol):
    """The repository that a user names; `folder` is the folder of clones."""

    @property
    def source(self) -> str:
        """A path, a URL or owner/name."""

    @property
    def store(self) -> Root:
        """The store, which knows what is withdrawn."""

    @property
    def clones_folder(self) -> Path:
        """The folder of clones."""

    @property
    def name(self) -> str | None:
        """The name in the data; None takes it from the source."""

    @property
    def limits(self) -> FetchLimits:
        """Limits on the size of clones and on stalled transfers."""


@contextmanager
def open_clone(wanted: WantedClone, listener: Listener) -> Iterator[tuple[Clone, Repository]]:
    """Clone or fetch the wanted repository, and yield the clone and the opened repository.

    Its crawl is recorded, and it is not evicted before the block ends.

    Raises: Fatal for a withdrawn repository, of which nothing is fetched; Unclonable (a Fatal) for
    a source that cannot be cloned; Transient for the network.
    """
    check_not_withdrawn(wanted.store, wanted.name or find_default_name(wanted.source))
    listener.step('clone', 0, 1)
    with (
        pin_clone(
            wanted.source, store=wanted.clones_folder, name=wanted.name, limits=wanted.limits
        ) as clone,
        closing(Repository(clone.git_dir)) as repository,
    ):
        record_clone_refs(repository)
        yield clone, repository


# The clones of a store for a release: few are open at once, and none is evicted meanwhile.


class ReleaseClones:
    """The clones of a store's repositories, which are fetched if missing or evicted.

    folder  folder of clones
    """

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder, self.store = folder, store
        self._stack = ExitStack()
        self._pins = self._stack.enter_context(ClonePins())
        self._pool = self._stack.enter_context(RepositoryPool(self._open_clone))
        self._urls: dict[str, str | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def get_repository(self, repo: str) -> Repository:
        """Return a repository for short use: opening others may close it."""
        return self._pool.get(repo)

    def get_repositories(self, repos: Iterable[str]) -> Mapping[str, Repository]:
        """Return repositories by name, each opened when it is accessed."""
        return self._pool.map_names(repos)

    def find_licence(self, repo: str, rev: str) -> str | None:
        """Return the SPDX expression of a repository's licence at a revision; None if unknown."""
        return find_spdx_expression(self.get_repository(repo), rev)

    def is_silent_on_licences(self, repo: str, rev: str) -> bool:
        """Return whether a repository says nothing of a licence at a revision."""
        return is_silent_on_licences(self.get_repository(repo), rev)

    def list_attributed_files(self, repo: str, rev: str) -> tuple[LicenceFile, ...]:
        """Return the licence files and notices of a repository at a revision."""
        return list_licence_and_notice_files(self.get_repository(repo), rev)

    def count_files_and_lines(self, repo: str, rev: str, language: str) -> tuple[int, int] | None:
        """Return the number of source files and of their lines at a revision; None if unknown."""
        return count_source_files_and_lines(self.get_repository(repo), rev, language)

    def load_commit_date(self, repo: str, rev: str) -> datetime | None:
        """Return the committer date of a commit; None if it cannot be read."""
        try:
            return self.get_repository(repo).get_commit(rev).committer_date
        except CorruptObject:
            return None

    def find_repository_families(self, repos: Sequence[str]) -> Mapping[str, str]:
        """Return the family of each repository, which repositories with a common history share."""
        return find_repository_families(
            self.get_repositories(repos), LazyMapping(repos, self._list_refs)
        )

    def prepare_search(self, repo: str) -> SearchedClone:
        """Return a clone with its refs and crawl time, as a search of its history needs it."""
        clone = self.get_repository(repo)
        return SearchedClone(
            repository=clone, crawled_at=load_crawl_time(clone.git_dir), refs=list_clone_refs(clone)
        )

    def _list_refs(self, repo: str) -> Sequence[tuple[str, str]]:
        return list_clone_refs(self.get_repository(repo))

    @contextmanager
    def _open_clone(self, repo: str) -> Iterator[Repository]:
        with pin_existing_clone(self.folder, repo, self._find_url(repo)) as git_dir:
            if git_dir.is_dir():
                self._pins.pin(git_dir)
            yield Repository(git_dir)  # closed by the pool

    def _find_url(self, repo: str) -> str | None:
        """Return the address of a mined repository from its walk records; None if none has one."""
        if repo not in self._urls:
            walks = (self.store.load_walk(part) for part in self._partitions[repo])
            urls = (walk.repository.url for walk in walks)
            self._urls[repo] = next((url for url in urls if url is not None), None)
        return self._urls[repo]

    @cached_property
    def _partitions(self) -> Mapping[str, Sequence[Partition]]:
        """All partitions of the store by repository, listed once."""
        return self.store.group_partitions()


# Find the families of a store's repositories: forks, copies and renames of one another.
#
# They share a commit, hence a root commit, whose id cannot occur twice by chance. Equal files prove
# nothing: the same trivial test is in many unrelated projects.

# A pull request may bring in the history of another project; that does not make the two related.
_PULLS = 'refs/pull/'
_ROOTS = ('rev-list', '--max-parents=0')


# Refs of clones as (name, object id), by repository.
Refs = Mapping[str, Sequence[tuple[str, str]]]


def find_repository_families(
    clones: Mapping[str, Repository], refs: Refs | None = None
) -> dict[str, str]:
    """Return the family of each repository: the name of the first repository in it.

    Repositories are of one family if they share a root commit, and joined families are one. A
    shallow clone has the commits where it ends as roots, so only similar shallow clones join its
    family.

    refs  refs of each clone; None takes those that the clones have now
    """
    first_with: dict[str, str] = {}
    family: dict[str, str] = {}
    for repo in sorted(clones):
        roots = _find_roots(clones[repo], refs[repo] if refs else None)
        known = {family[first_with[root]] for root in roots if root in first_with}
        head = min(known, default=repo)
        family[repo] = head
        # A repository with two roots joins families that were separate before.
        if joined := known - {head}:
            family |= {other: head for other, its in family.items() if its in joined}
        first_with |= {root: repo for root in roots if root not in first_with}
    return family


def _find_roots(clone: Repository, refs: Sequence[tuple[str, str]] | None) -> list[str]:
    if refs is None:
        return clone.run_command(*_ROOTS, f'--exclude={_PULLS}*', '--all').decode().split()
    tips = ''.join(f'{oid}\n' for name, oid in refs if not name.startswith(_PULLS))
    output = clone.run_command(*_ROOTS, '--ignore-missing', '--stdin', stdin=tips.encode())
    return output.decode().split()
