"""The folder that a run works in: on disk, readable for sandbox users, removed afterwards.

A killed run leaves its folder behind. The next run removes every folder whose lock is free.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coevo.storage.disk import find_work_root

_PREFIX = 'coevo-run-'
_LOCK = 'lock'


@contextmanager
def open_workspace() -> Iterator[Path]:
    """Yield a new folder in the work root, and remove it at the end of the block.

    Its mode is 711: other users cannot list it, but can open known names. Folders that killed runs
    left are removed first.
    """
    root = find_work_root()
    root.mkdir(parents=True, exist_ok=True)
    _remove_abandoned_folders(root)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
    folder.chmod(0o711)
    making = folder / f'.{_LOCK}'
    with making.open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The lock file appears already locked, else another run might remove the folder.
        making.rename(folder / _LOCK)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned_folders(root: Path) -> None:
    for folder in sorted(root.glob(f'{_PREFIX}*')):
        if _is_abandoned(folder / _LOCK):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(lock: Path) -> bool:
    """Return whether no process holds the lock.

    False for a lock of another user and for one that cannot be opened, such as while the folder is
    being made or removed.
    """
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # it does not exist, or this user may not open it
        return False
    with os.fdopen(descriptor, 'r+') as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
