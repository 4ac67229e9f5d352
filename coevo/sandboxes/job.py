"""The description of a job: a command, the host files that it may see, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

WORK_FOLDER = '/w'
TEMPORARY_FOLDER = '/tmp'
HOME = f'{TEMPORARY_FOLDER}/home'

# The environment of every job before its own variables are added; nothing comes from the host.
ENVIRONMENT = {
    'HOME': HOME,
    'LANG': 'C.UTF-8',
    'PATH': '/usr/bin:/bin',
    'TZ': 'UTC',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A file or folder of the host, read-only at an absolute path of the sandbox."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a job; they hold for all of its processes together, unless stated otherwise.

    cpu_seconds       user and system time
    wall_seconds      time since the start
    memory_bytes      resident memory, sampled. From 4 GiB on it also limits the address space of
                      each process, unless `bounds_addresses` is off; a JVM reserves far more than
                      it uses and would not start with less. Files in /w and /tmp are not included
    processes         number of processes and threads
    file_bytes        size of one file
    disk_bytes        size of each of /w and /tmp, which lie in memory
    bounds_addresses  whether `memory_bytes` may limit address spaces, too
    """

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    processes: int
    file_bytes: int
    disk_bytes: int
    bounds_addresses: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command and its surroundings; it reports its result on standard output.

    mounts       read-only files and folders; they and the folders above them must be open to all
                 users
    sockets      Unix sockets that the job may connect to
    environment  variables beside `ENVIRONMENT`, which they may override
    cwd          an absolute path that exists in the sandbox
    """

    argv: tuple[str, ...]
    limits: Limits
    mounts: tuple[Mount, ...] = ()
    sockets: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = '/'

    @property
    def all_mounts(self) -> tuple[Mount, ...]:
        """Mounts and sockets, sorted so that an outer mount comes before those inside it."""
        return tuple(sorted((*self.mounts, *self.sockets), key=lambda mount: mount.target))

    @property
    def full_environment(self) -> dict[str, str]:
        """All environment variables of the job: `ENVIRONMENT` and its own."""
        return {**ENVIRONMENT, **self.environment}
