"""What to run in a sandbox: a command, what it may see of the host, and how much it may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

WORK_FOLDER = '/w'
TEMPORARY_FOLDER = '/tmp'
HOME = f'{TEMPORARY_FOLDER}/home'

# What every program in a sandbox finds in its environment; nothing of the host's is added.
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
    """What a job may use, all its processes together unless it says otherwise.

    cpu_seconds   user and system time
    memory_bytes  resident memory, sampled; from 4 GiB on it also bounds the address space of each
                  process (a JVM reserves far more than it uses and does not start below that),
                  unless `bounds_addresses` is off. Files on the sandbox's own file systems come on
                  top, see `disk_bytes`
    processes     processes and threads
    file_bytes    size of one file
    disk_bytes    size of each of /w and /tmp, which lie in memory
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
    """A command and its surroundings; standard output is its result channel.

    mounts   the sources, and the folders on the way to them, must be open to all users
    sockets  Unix sockets that the job may connect to
    cwd      an absolute path that exists in the sandbox
    """

    argv: tuple[str, ...]
    limits: Limits
    mounts: tuple[Mount, ...] = ()
    sockets: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = '/'

    @property
    def all_mounts(self) -> tuple[Mount, ...]:
        """Mounts and sockets, what is nested after what holds it."""
        return tuple(sorted((*self.mounts, *self.sockets), key=lambda mount: mount.target))

    @property
    def full_environment(self) -> dict[str, str]:
        return {**ENVIRONMENT, **self.environment}
