"""Check the mounts of a job before any of them is made.

A mounted tree may be hostile. bwrap and Docker create a mount point below it by following links, so
a symbolic link in the tree could redirect another mount to any place of the host.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from coevo.model.errors import Fatal
from coevo.sandboxes.job import Mount


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
                _check_nested(outer, mount)


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
    closed = _find_first_closed(mount.source) if other_user else None
    if closed is not None:
        raise Fatal(
            f'{mount.source} cannot be mounted: the sandbox runs as another user, to whom {closed}'
            ' is closed; open it to all users, or use a cache and a work folder that are open'
        )


def _find_first_closed(source: Path) -> Path | None:
    """Return the first path on the way to `source` that other users cannot enter or read.

    None if every folder above `source` can be entered and `source` itself is open.
    """
    real = source.resolve()
    for folder in reversed(real.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None if _is_open(real) else real


def _is_open(path: Path) -> bool:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        needed = stat.S_IXOTH
    elif stat.S_ISSOCK(mode):
        needed = stat.S_IWOTH
    else:
        needed = stat.S_IROTH
    return mode & needed == needed


def _check_nested(outer: Mount, inner: Mount) -> None:
    """Raise Fatal if the mount point of `inner` is missing in `outer`, or a link leads to it."""
    target = PurePosixPath(inner.target)
    if not target.is_relative_to(outer.target):
        return
    for path in _walk_down(outer.source, target.relative_to(outer.target)):
        if path.is_symlink() or not path.exists():
            raise Fatal(f'nothing can be mounted at {inner.target}: {path} is missing or a link')


def _walk_down(folder: Path, below: PurePosixPath) -> Iterator[Path]:
    for part in below.parts:
        folder = folder / part
        yield folder
