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

from coevo.storage.folders import work_root

_PREFIX = 'coevo-run-'
_LOCK = 'lock'


@contextmanager
def workspace() -> Iterator[Path]:
    """A private folder, mode 711, that others can enter only where they know the names."""
    root = work_root()
    root.mkdir(parents=True, exist_ok=True)
    _sweep(root)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
    folder.chmod(0o711)
    making = folder / f'.{_LOCK}'
    with making.open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        making.rename(
            folder / _LOCK
        )  # never seen unlocked, or the sweep of another run would take it
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _sweep(root: Path) -> None:
    for folder in sorted(root.glob(f'{_PREFIX}*')):
        if _is_ours(folder) and not _is_locked(folder / _LOCK):
            shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Another user's folder, or one that is being made and has no lock yet, is left alone."""
    lock = folder / _LOCK
    return lock.is_file() and not lock.is_symlink() and lock.stat().st_uid == os.geteuid()


def _is_locked(lock: Path) -> bool:
    with lock.open('r+') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
