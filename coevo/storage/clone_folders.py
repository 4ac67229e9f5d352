"""Where the clones of a store lie, and who is at one: a process that changes it, or any that read it.

NAME.lock   held by the process that fetches, and by its Git until that has ended
NAME.use    shared by readers; only an eviction wants it alone. Its date is that of the last use
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coevo.storage.place import folder_name


def clone_folder(store: Path, repo: str) -> Path:
    """Where the clone of a repository lies in a store's folder, or would lie."""
    return store.absolute() / 'clones' / f'{folder_name(repo)}.git'


@contextmanager
def changing(git_dir: Path) -> Iterator[int]:
    """Wait until nobody else changes a clone; gives the lock's descriptor for children to share."""
    with _opened(git_dir.with_suffix('.lock')) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor


@contextmanager
def using(git_dir: Path) -> Iterator[None]:
    """Keep a clone where it is."""
    path = git_dir.with_suffix('.use')
    with _opened(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.utime(path)
        yield


@contextmanager
def deserted(git_dir: Path) -> Iterator[bool]:
    """Whether nobody changes or reads a clone; if so, it stays so inside."""
    locks = (git_dir.with_suffix('.lock'), git_dir.with_suffix('.use'))
    with _opened(locks[0]) as changers, _opened(locks[1]) as readers:
        yield _alone(changers) and _alone(readers)


def last_use(git_dir: Path) -> int:
    """In nanoseconds; 0 if it is not known."""
    path = git_dir.with_suffix('.use')
    return path.stat().st_mtime_ns if path.exists() else 0


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
