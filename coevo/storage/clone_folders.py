"""The location of a store's clones, and the locks that coordinate their users.

A clone is used either by one process that changes it, or by any number of readers.

NAME.lock  held by the process that fetches, and by its Git child until that has ended
NAME.use   shared by readers; only an eviction takes it exclusively. Its date is that of the last
           use
ID.pins    names of clones, one a line, that one process wants to keep; locked for as long as it
           does
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
    """Return the path of a repository's clone in a store's folder, whether it exists or not."""
    return store.absolute() / 'clones' / f'{encode_folder_name(repo)}.git'


@contextmanager
def wait_for_change_lock(git_dir: Path) -> Iterator[int]:
    """Wait for exclusive access to change a clone; provide the lock's descriptor for children."""
    with _open_descriptor(git_dir.with_suffix('.lock')) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor


@contextmanager
def wait_for_use_lock(git_dir: Path) -> Iterator[None]:
    """Prevent the eviction of a clone until the block ends, and record the time of this use."""
    path = git_dir.with_suffix('.use')
    with _open_descriptor(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.utime(path)
        yield


class ClonePins:
    """Protection from eviction for any number of clones in one folder, with a single descriptor."""

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
        """Protect an existing clone until the context ends.

        Its name is written under its use lock, because an eviction reads the names while it holds
        that lock exclusively.
        """
        if git_dir.name in self._names:
            return
        if self._descriptor is None:
            self._descriptor = self._stack.enter_context(_create_pin_file(git_dir.parent))
        with wait_for_use_lock(git_dir):
            os.write(self._descriptor, os.fsencode(f'{git_dir.name}\n'))
        self._names.add(git_dir.name)


@contextmanager
def lock_if_deserted(git_dir: Path) -> Iterator[bool]:
    """Yield True if no process changes, reads or pins a clone, else False.

    After True the clone stays locked until the block ends.
    """
    locks = (git_dir.with_suffix('.lock'), git_dir.with_suffix('.use'))
    with _open_descriptor(locks[0]) as changers, _open_descriptor(locks[1]) as readers:
        yield (
            _try_lock_exclusively(changers)
            and _try_lock_exclusively(readers)
            and not _is_pinned(git_dir)
        )


def load_last_use_nanoseconds(git_dir: Path) -> int:
    """Return the time of the last use in nanoseconds since 1970; 0 if it is unknown."""
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
    """Provide the descriptor of a new pin file, which is locked before it gets its visible name."""
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
    """Return whether a living process has pinned the clone; remove pin files of dead ones."""
    return any(
        git_dir.name in _load_pins_or_remove_dead(path) for path in git_dir.parent.glob(f'*{_PINS}')
    )


def _load_pins_or_remove_dead(path: Path) -> list[str]:
    try:
        with _open_descriptor(path, os.O_RDWR) as descriptor:
            if _try_lock_exclusively(descriptor):
                path.unlink(missing_ok=True)
                return []
            return path.read_text(encoding='utf-8', errors='surrogateescape').splitlines()
    except FileNotFoundError:  # its process has just ended and removed it
        return []


def _try_lock_exclusively(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
