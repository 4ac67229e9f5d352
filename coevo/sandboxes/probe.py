"""Find out whether a back end works by running a trial job in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Protocol

from coevo.model.errors import Fatal
from coevo.sandboxes.job import Job, Limits
from coevo.sandboxes.process import Process

_JOB = Job(
    argv=('true',),
    limits=Limits(
        cpu_seconds=10,
        wall_seconds=60,
        memory_bytes=1 << 30,
        processes=16,
        file_bytes=1 << 20,
        disk_bytes=1 << 20,
    ),
)


class _BackEnd(Protocol):
    """The members of `Sandbox` that a trial needs."""

    name: str

    def start(self, job: Job) -> Process:
        """Start a job."""

    def close(self) -> None:
        """Kill all running jobs."""


def find_program(program: str, package: str) -> str:
    """Return the path of a program. Raises Fatal, with the package to install, if it is missing."""
    path = shutil.which(program)
    if path is None:
        raise Fatal(f'{program} was not found; install {package} (apt install {package})')
    return path


def run_trial_job(back_end: _BackEnd, obstacle: Callable[[], str | None] = lambda: None) -> None:
    """Run the trial job `true` in a back end, and return if it succeeds.

    obstacle  called after a failure; returns a known reason for the message, or None

    Raises: Fatal if the job fails; the back end is closed before.
    """
    with back_end.start(_JOB) as process:
        status = process.wait()
        noise = process.get_last_error_output().strip()
    if status:
        back_end.close()
        raise Fatal(f'{back_end.name} cannot start a sandbox: {obstacle() or noise}')
