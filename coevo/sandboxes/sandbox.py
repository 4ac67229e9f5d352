"""Run a command without network, with limits, and with nothing of the host but what it is given.

Inside: /w and /tmp are writable and lie in memory, system folders and mounts are read-only, there
is no network but the job's own loopback, no environment of the host's, the host's name is `coevo`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from coevo.model.errors import Fatal
from coevo.sandboxes.bubblewrap import Bubblewrap
from coevo.sandboxes.job import Job, Limits, Mount
from coevo.sandboxes.names import BUBBLEWRAP, DOCKER, NONE
from coevo.sandboxes.process import Process
from coevo.sandboxes.unconfined import Unconfined

__all__ = ['Job', 'Limits', 'Mount', 'Process', 'Sandbox', 'open_sandbox']


class Sandbox(Protocol):
    """A back end, opened once and used for many jobs, from several threads."""

    @property
    def name(self) -> str: ...

    # starts a job; Fatal where a mount cannot be made
    def start(self, job: Job) -> Process: ...

    # kills what still runs
    def close(self) -> None: ...


def _open_docker() -> Sandbox:
    try:
        from coevo.sandboxes.docker import Docker
    except ImportError as error:  # only who wants it needs its library
        raise Fatal(f'{error}; install the Python package docker (pip install docker)') from error
    return Docker()


BACK_ENDS: dict[str, Callable[[], Sandbox]] = {
    BUBBLEWRAP: Bubblewrap,
    DOCKER: _open_docker,
    NONE: Unconfined,
}


def open_sandbox(name: str) -> Sandbox:
    """A back end that was tried out; Fatal with what to do if it cannot be used."""
    if name not in BACK_ENDS:
        raise Fatal(f'there is no sandbox {name!r}; choose one of {", ".join(sorted(BACK_ENDS))}')
    return BACK_ENDS[name]()
