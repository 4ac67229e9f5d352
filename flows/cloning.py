"""A repository of a run: cloned, its crawl noted, and staying where it is meanwhile."""

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
    """What a user says of a repository; `folder` is where clones lie."""

    @property
    def source(self) -> str: ...
    @property
    def folder(self) -> Path: ...
    @property
    def name(self) -> str | None: ...
    @property
    def limits(self) -> FetchLimits: ...


@contextmanager
def open_clone(wanted: WantedClone, listener: Listener) -> Iterator[tuple[Clone, Repository]]:
    """Unclonable (a Fatal) for what cannot be cloned, Transient for the network."""
    listener.step('clone', 0, 1)
    with (
        pin_clone(
            wanted.source, store=wanted.folder, name=wanted.name, limits=wanted.limits
        ) as clone,
        closing(Repository(clone.git_dir)) as repository,
    ):
        record_crawl(repository)
        yield clone, repository
