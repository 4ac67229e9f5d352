"""Open the clone of a repository for a run: obtain it, record its crawl, and protect it from
eviction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

from coevo.git.repository import Repository
from coevo.model.listener import Listener
from miners.cloning.clones import Clone, pin_clone
from miners.cloning.remotes import FetchLimits
from miners.discovery.crawls import record_crawl


class WantedClone(Protocol):
    """The repository that a user names; `folder` is the folder of clones."""

    @property
    def source(self) -> str:
        """A path, a URL or owner/name."""

    @property
    def folder(self) -> Path:
        """The folder of clones."""

    @property
    def name(self) -> str | None:
        """The name in the data; None takes it from the source."""

    @property
    def limits(self) -> FetchLimits:
        """Limits on the size of clones and on stalled transfers."""


@contextmanager
def open_clone(wanted: WantedClone, listener: Listener) -> Iterator[tuple[Clone, Repository]]:
    """Yield a clone and its repository.

    Raises: Unclonable (a Fatal) for a source that cannot be cloned, Transient for the network.
    """
    listener.step('clone', 0, 1)
    with (
        pin_clone(
            wanted.source, store=wanted.folder, name=wanted.name, limits=wanted.limits
        ) as clone,
        closing(Repository(clone.git_dir)) as repository,
    ):
        record_crawl(repository)
        yield clone, repository
