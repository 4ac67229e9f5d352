"""Where the clones of a store lie, and who is at one: a process that changes it, or any that read it.

NAME.lock   held by the process that fetches, and by its Git until that has ended
NAME.use    shared by readers; only an eviction wants it alone. Its date is that of the last use
ID.pins     names of clones, a line each, that one process wants to stay; locked as long as it does
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from coevo.storage.place import encode_folder_name

_PINS = '.pins'


def locate_clone(store: Path, repo: str) -> Path:
    """Where the clone of a repository lies in a store's folder, or would lie."""
    return store.absolute() / 'clones' / f'{encode_folder_name(repo)}.git'


@contextmanager
def lock_for_change(git_dir: Path) -> Iterator[int]:
    """Wait until nobody else changes a clone; gives the lock's descriptor for children to share."""
    with _open_descriptor(git_dir.with_suffix('.lock')) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor


@contextmanager
def lock_for_use(git_dir: Path) -> Iterator[None]:
    """Keep a clone where it is."""
    path = git_dir.with_suffix('.use')
    with _open_descriptor(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.utime(path)
        yield


class ClonePins:
    """Keep any number of clones of one folder where they are, with one descriptor for all."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._stack = ExitStack()
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def pin(self, git_dir: Path) -> None:
        """Keep a clone that is there until all are let go.

        Its name is written while it is used: an eviction, which reads names, is alone then.
        """
        if git_dir.name in self._names:
            return
        if self._descriptor is None:
            self._descriptor = self._stack.enter_context(_create_pin_file(git_dir.parent))
        with lock_for_use(git_dir):
            os.write(self._descriptor, os.fsencode(f'{git_dir.name}\n'))
        self._names.add(git_dir.name)


@contextmanager
def lock_if_deserted(git_dir: Path) -> Iterator[bool]:
    """Whether nobody changes or reads a clone; if so, it stays so inside."""
    locks = (git_dir.with_suffix('.lock'), git_dir.with_suffix('.use'))
    with _open_descriptor(locks[0]) as changers, _open_descriptor(locks[1]) as readers:
        yield _can_lock_alone(changers) and _can_lock_alone(readers) and not _is_pinned(git_dir)


def load_last_use(git_dir: Path) -> int:
    """In nanoseconds; 0 if it is not known."""
    path = git_dir.with_suffix('.use')
    return path.stat().st_mtime_ns if path.exists() else 0


@contextmanager
def _open_descriptor(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _create_pin_file(folder: Path) -> Iterator[int]:
    """A new file of names; it is locked before it has the name by which others see it."""
    descriptor, hidden = tempfile.mkstemp(prefix='.pins-', dir=folder)
    path = folder / f'{Path(hidden).name.removeprefix(".")}{_PINS}'  # own name: mkstemp's
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        Path(hidden).rename(path)  # own name: mkstemp's
        yield descriptor
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_pinned(git_dir: Path) -> bool:
    """Whether a living process has it among its names; what a dead one left is removed."""
    return any(
        git_dir.name in _load_pinned_names(path) for path in git_dir.parent.glob(f'*{_PINS}')
    )


def _load_pinned_names(path: Path) -> list[str]:
    try:
        with _open_descriptor(path, os.O_RDWR) as descriptor:
            if _can_lock_alone(descriptor):
                path.unlink(missing_ok=True)
                return []
            return path.read_text(encoding='utf-8', errors='surrogateescape').splitlines()
    except FileNotFoundError:  # its process has just ended
        return []


def _can_lock_alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
