"""The folder that a run works in: on disk, readable for the sandbox's users, gone afterwards.

A killed run leaves its folder behind; the next run removes every folder that nobody locks.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coevo.storage.folders import find_work_root

_PREFIX = 'coevo-run-'
_LOCK = 'lock'


@contextmanager
def open_workspace() -> Iterator[Path]:
    """A private folder, mode 711, that others can enter only where they know the names."""
    root = find_work_root()
    root.mkdir(parents=True, exist_ok=True)
    _remove_orphans(root)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
    folder.chmod(0o711)
    making = folder / f'.{_LOCK}'
    with making.open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Never seen unlocked, or the sweep of another run would take it.
        making.rename(folder / _LOCK)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_orphans(root: Path) -> None:
    for folder in sorted(root.glob(f'{_PREFIX}*')):
        if _is_abandoned(folder / _LOCK):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(lock: Path) -> bool:
    """Whether nobody holds it; another user's, and one that is made or removed just now, is left alone."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # not there, or not ours to open
        return False
    with os.fdopen(descriptor, 'r+') as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
