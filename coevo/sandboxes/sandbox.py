"""Run commands without network, with limits, and with only the given files of the host.

In the sandbox, /w and /tmp are writable and lie in memory; system folders and mounts are read-only.
The only network is the job's own loopback. The environment has nothing of the host's, and the host
name is `coevo`. The back end `none` gives only a part of that, see `coevo.sandboxes.unconfined`.
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
    """A way to run jobs apart from the host, such as bubblewrap or Docker.

    It is opened once and used for many jobs, from several threads.
    """

    @property
    def name(self) -> str:
        """The name of the back end, see `coevo.sandboxes.names`."""

    def start(self, job: Job) -> Process:
        """Start a job.

        Raises: Fatal for a mount that cannot be made, Transient if the sandbox fails to start.
        """

    def close(self) -> None:
        """Kill all running jobs. No job can be started afterwards."""


def _open_docker() -> Sandbox:
    try:
        from coevo.sandboxes.docker import Docker
    except ImportError as error:  # the library is optional
        raise Fatal(f'{error}; install the Python package docker (pip install docker)') from error
    return Docker()


BACK_ENDS: dict[str, Callable[[], Sandbox]] = {
    BUBBLEWRAP: Bubblewrap,
    DOCKER: _open_docker,
    NONE: Unconfined,
}


def open_sandbox(name: str) -> Sandbox:
    """Open the back end of this name, which runs a trial job.

    Raises: Fatal, with what to do, if there is no such back end or it cannot be used.
    """
    if name not in BACK_ENDS:
        raise Fatal(f'there is no sandbox {name!r}; choose one of {", ".join(sorted(BACK_ENDS))}')
    return BACK_ENDS[name]()
