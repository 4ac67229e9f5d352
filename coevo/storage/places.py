"""Storage places: opened by what a user names, and folders of this machine or of a shared file
system.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.objects import BucketPlace
from coevo.storage.place import HeldLock, PlaceEntry, Root, StoragePlace, StoredFile

# A storage place in a folder of this machine, or of a file system that machines share.


class FolderPlace:
    """A storage place in a folder, which the first write makes; see `StoragePlace`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def describe(self, name: str = '') -> str:
        """Return the path of the folder, or of a file in it."""
        return str(self._root / name)

    def list_top_names(self) -> frozenset[str]:
        """Return the names of the files and folders directly in the folder; empty without one."""
        return (
            frozenset(path.name for path in self._root.iterdir())
            if self._root.is_dir()
            else frozenset()
        )

    def list_files(self, folder: str) -> Sequence[PlaceEntry]:
        """Return all files below a folder, sorted by name; unfinished ones are left out.

        Empty if the folder does not exist. Raises: OSError if a folder may not be read.
        """
        return sorted(self._iterate_files(folder), key=lambda entry: entry.name)

    def _iterate_files(self, folder: str) -> Iterator[PlaceEntry]:
        """Yield the regular files of a folder; skip those that another process removes."""
        for path in _walk_files(self._root / folder):
            if durable.UNFINISHED in path.name:
                continue
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                state = path.stat()
                if stat.S_ISREG(state.st_mode):
                    name = path.relative_to(self._root).as_posix()
                    yield PlaceEntry(name=name, size=state.st_size, modified=state.st_mtime_ns)

    def read(self, name: str) -> StoredFile | None:
        """Return a file with its version; None if it does not exist."""
        try:
            with (self._root / name).open('rb') as file:
                state = os.fstat(file.fileno())
                return StoredFile(
                    data=file.read(), version=_format_version(state), modified=state.st_mtime_ns
                )
        except (FileNotFoundError, NotADirectoryError):
            return None

    def load_files(self, names: Sequence[str]) -> Sequence[StoredFile | None]:
        """Return many files as `read` does, in the order of their names in the call."""
        return [self.read(name) for name in names]

    def write_file(self, name: str, data: bytes) -> None:
        """Create or replace a file atomically."""
        join_beneath(self._root, name).replace_file(data)

    def write_if_unchanged(self, name: str, data: bytes, version: str | None) -> str | None:
        """Write a file if it still has `version`; None means that it must not exist yet.

        Return the new version; None if the condition failed. A lock on the parent folder makes
        check and write one step.
        """
        target = join_beneath(self._root, name)
        folder = target.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        with _wait_for_folder_lock(folder):
            if _load_version(target.path) != version:
                return None
            target.replace_file(data)
            return _load_version(target.path)

    def remove_files(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        for name in names:
            join_beneath(self._root, name).remove()

    def remove_unfinished(self, folder: str) -> None:
        """Remove the temporary files directly in a folder that killed processes left."""
        for path in (self._root / folder).glob(f'*{durable.UNFINISHED}*'):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def lock(self, name: str, busy: str) -> Iterator[HeldLock]:
        """Hold an exclusive lock on a file of that name until the block ends.

        The kernel releases it when the process ends. Raises: Fatal with the sentence `busy` if
        another process holds it.
        """
        path = join_beneath(self._root, name).path
        path.parent.mkdir(parents=True, exist_ok=True)
        with durable.name_file_in_errors(path), path.open('ab') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Fatal(busy) from None
            yield _KernelLock()


def _walk_files(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder.

    Raises: OSError for an unreadable folder, rather than treating it as empty.
    """
    for here, _, names in os.walk(folder, onerror=_raise_unless_missing):
        yield from (Path(here, name) for name in names)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


class _KernelLock:
    """A lock of the kernel, which cannot be lost."""

    def check_held(self) -> None:
        """Do nothing: this lock cannot be lost."""

    def confirm_held(self) -> None:
        """Do nothing: this lock cannot be lost."""


@contextlib.contextmanager
def _wait_for_folder_lock(folder: Path) -> Iterator[None]:
    """Hold a short exclusive lock on a folder, under which its files are exchanged."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _load_version(path: Path) -> str | None:
    try:
        return _format_version(path.stat())
    except FileNotFoundError:
        return None


def _format_version(state: os.stat_result) -> str:
    return f'{state.st_ino}-{state.st_mtime_ns}-{state.st_size}'


# Open the storage place that a user names.


def open_place(root: Root) -> StoragePlace:
    """Return the storage place for a folder or URL.

    Raises: Fatal if it needs a package or keys that are missing.
    """
    if isinstance(root, Path):
        return FolderPlace(root)
    return BucketPlace(root)
