"""The files that a sandbox shows: those of the system in all back ends, and a job's mounts, checked
before any is made.
"""

from __future__ import annotations

import math
import os
import resource
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from coevo.model.errors import Fatal
from coevo.sandboxes.job import HOME, Limits, Mount

# The files of the system that every sandbox shows, in all back ends.
#
# Programs are visible, data of people is not: nothing of /home, /root, /var, /opt, /sys or the
# host's accounts, and of /etc only the configuration that programs and JVMs need.

HOST_NAME = 'coevo'
USER_ID = 1000

# Folders that are links into /usr on most systems, and real folders on others.
_TOP_FOLDERS = ('bin', 'lib', 'lib32', 'lib64', 'libx32', 'sbin')

# Configuration in /etc that installed programs link to. It is public and has no secrets.
_CONFIGURATION = ('alternatives', 'fonts', 'java*', 'ld.so.cache', 'ssl/certs')

# Folders below a system folder that are shown empty: people install their own software there.
HIDDEN = ('/usr/local',)

SHARED_MEMORY_BYTES = 64 << 20
_OPEN_FILES = 8192
_CPU_MARGIN_SECONDS = 10

# The first process starts the job, collects orphans, and ends all other processes by its own end.
# Its program is a copy of the shell that its user may execute but not read. The kernel then stops
# processes of the same user from tracing it and from reading or writing its memory or descriptors
# (would_dump() in fs/exec.c).
SHELL, FIRST_PROGRAM, FIRST_MODE = '/bin/sh', '/first', 0o111
FIRST_PROCESS = (FIRST_PROGRAM, '-c', '"$@"; exit $?', 'sh')


def list_system_mount_paths() -> tuple[str, ...]:
    """Return the files and folders of the host that are mounted at their own path."""
    real = [f'/{name}' for name in _TOP_FOLDERS if _is_real_folder(Path('/', name))]
    configuration = [path for name in _CONFIGURATION for path in sorted(Path('/etc').glob(name))]
    return ('/usr', *real, *(str(path) for path in configuration if not path.is_symlink()))


def list_system_links() -> dict[str, str]:
    """Return the top folders that are links, with their targets, such as /bin: usr/bin."""
    links = {f'/{name}': Path('/', name) for name in _TOP_FOLDERS}
    return {name: str(link.readlink()) for name, link in links.items() if link.is_symlink()}


def make_account_files(user_id: int) -> dict[str, str]:
    """Return the content of the sandbox's own account and host name files, by path."""
    return {
        '/etc/group': f'root:x:0:\ncoevo:x:{user_id}:\nnogroup:x:65534:\n',
        '/etc/hosts': f'127.0.0.1 localhost {HOST_NAME}\n::1 localhost\n',
        '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
        '/etc/passwd': (
            'root:x:0:0:root:/nonexistent:/bin/false\n'
            f'coevo:x:{user_id}:{user_id}:coevo:{HOME}:/bin/sh\n'
            'nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n'
        ),
    }


def _is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def build_limit_command(limits: Limits, *, processes: bool = True) -> tuple[str, ...]:
    """Return a command prefix (prlimit) that sets the kernel's limits for each process of a job.

    processes  whether to limit the number of processes, too. The kernel counts all processes of a
               user; only since Linux 5.14 it counts those in a user name space separately
    """
    wanted = {
        'cpu': (resource.RLIMIT_CPU, math.ceil(limits.cpu_seconds) + _CPU_MARGIN_SECONDS),
        'fsize': (resource.RLIMIT_FSIZE, limits.file_bytes),
        'core': (resource.RLIMIT_CORE, 0),
        'nofile': (resource.RLIMIT_NOFILE, _OPEN_FILES),
    }
    if processes:
        wanted['nproc'] = (resource.RLIMIT_NPROC, limits.processes)
    if limits.memory_bytes >= 4 << 30 and limits.bounds_addresses:
        wanted['as'] = (resource.RLIMIT_AS, limits.memory_bytes)
    options = (
        f'--{name}={_cap_at_hard_limit(kind, value)}' for name, (kind, value) in wanted.items()
    )
    return ('/usr/bin/prlimit', *options, '--')


def _cap_at_hard_limit(kind: int, value: int) -> int:
    """Return the value, capped by this process's hard limit, which only root may raise."""
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def check_mounts(mounts: Sequence[Mount], *, other_user: bool) -> None:
    """Raise Fatal for a mount that is unsafe or whose source the job could not read.

    other_user  whether the job runs under another user than coevo, so that its sources must be
                open to all users
    """
    for mount in mounts:
        _check_target(mount)
        _check_source(mount, other_user=other_user)
        for outer in mounts:
            if outer.target != mount.target:
                _check_inner_mount_point(outer, mount)


def _check_target(mount: Mount) -> None:
    path = PurePosixPath(mount.target)
    if not path.is_absolute() or '..' in path.parts or str(path) != mount.target or path.name == '':
        raise Fatal(f'{mount.target!r} is no absolute, normal path to mount {mount.source} at')


def _check_source(mount: Mount, *, other_user: bool) -> None:
    if not mount.source.is_absolute() or not mount.source.exists():
        raise Fatal(f'{mount.source} cannot be mounted in the sandbox: it does not exist')
    if mount.source.is_symlink():
        raise Fatal(f'{mount.source} cannot be mounted in the sandbox: it is a symbolic link')
    if not os.access(mount.source, os.X_OK if mount.source.is_dir() else os.R_OK):
        raise Fatal(f'{mount.source} cannot be mounted in the sandbox: you cannot read it')
    closed = _find_first_inaccessible_path(mount.source) if other_user else None
    if closed is not None:
        raise Fatal(
            f'{mount.source} cannot be mounted: the sandbox runs as another user, to whom {closed}'
            ' is closed; open it to all users, or use a cache and a work folder that are open'
        )


def _find_first_inaccessible_path(source: Path) -> Path | None:
    """Return the first path on the way to `source` that other users cannot enter or read.

    None if every folder above `source` can be entered and `source` itself is open.
    """
    real = source.resolve()
    for folder in reversed(real.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None if _is_accessible_to_others(real) else real


def _is_accessible_to_others(path: Path) -> bool:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        needed = stat.S_IXOTH
    elif stat.S_ISSOCK(mode):
        needed = stat.S_IWOTH
    else:
        needed = stat.S_IROTH
    return mode & needed == needed


def _check_inner_mount_point(outer: Mount, inner: Mount) -> None:
    """Raise Fatal if the mount point of `inner` is missing in `outer`, or a link leads to it."""
    target = PurePosixPath(inner.target)
    if not target.is_relative_to(outer.target):
        return
    for path in _iterate_paths_down(outer.source, target.relative_to(outer.target)):
        if path.is_symlink() or not path.exists():
            raise Fatal(f'nothing can be mounted at {inner.target}: {path} is missing or a link')


def _iterate_paths_down(folder: Path, below: PurePosixPath) -> Iterator[Path]:
    for part in below.parts:
        folder = folder / part
        yield folder
