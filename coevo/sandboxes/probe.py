"""Find out whether a back end works, by really starting something in it."""

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
    name: str

    def start(self, job: Job) -> Process: ...

    def close(self) -> None: ...


def find_program(program: str, package: str) -> str:
    """The path of a program; Fatal with the package to install if there is none."""
    path = shutil.which(program)
    if path is None:
        raise Fatal(f'{program} was not found; install {package} (apt install {package})')
    return path


def try_out(back_end: _BackEnd, obstacle: Callable[[], str | None] = lambda: None) -> None:
    """Fatal, and the back end closed, if `true` does not run; `obstacle` may know why."""
    with back_end.start(_JOB) as process:
        status = process.wait()
        noise = process.get_noise().strip()
    if status:
        back_end.close()
        raise Fatal(f'{back_end.name} cannot start a sandbox: {obstacle() or noise}')
