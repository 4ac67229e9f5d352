"""Open the clone of a repository for a run.

The clone is obtained, its crawl recorded, and it is protected from eviction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

from coevo.git.repository import Repository
from coevo.model.listener import Listener
from coevo.storage.place import Root
from flows.eligibility import check_not_withdrawn
from miners.cloning.clones import Clone, find_default_name, pin_clone
from miners.cloning.remotes import FetchLimits
from miners.discovery.crawls import record_clone_refs


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
