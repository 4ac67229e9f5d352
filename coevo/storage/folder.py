"""A place in a folder of this machine, or of a file system that machines share."""

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
from coevo.storage.place import HeldLock, PlaceEntry, StoredFile


class FolderPlace:
    """The folder is made by the first writing."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def describe(self, name: str = '') -> str:
        return str(self._root / name)

    def list_top_names(self) -> frozenset[str]:
        return (
            frozenset(path.name for path in self._root.iterdir())
            if self._root.is_dir()
            else frozenset()
        )

    def list_files(self, folder: str) -> Sequence[PlaceEntry]:
        return sorted(self._iterate_files(folder), key=lambda entry: entry.name)

    def _iterate_files(self, folder: str) -> Iterator[PlaceEntry]:
        """What others remove meanwhile, as who merges segments does, is not there."""
        for path in _walk_files(self._root / folder):
            if durable.UNFINISHED in path.name:
                continue
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                state = path.stat()
                if stat.S_ISREG(state.st_mode):
                    name = path.relative_to(self._root).as_posix()
                    yield PlaceEntry(name=name, modified=state.st_mtime_ns)

    def read(self, name: str) -> StoredFile | None:
        try:
            with (self._root / name).open('rb') as file:
                state = os.fstat(file.fileno())
                return StoredFile(
                    data=file.read(), version=_format_version(state), modified=state.st_mtime_ns
                )
        except (FileNotFoundError, NotADirectoryError):
            return None

    def load_files(self, names: Sequence[str]) -> Sequence[StoredFile | None]:
        return [self.read(name) for name in names]

    def write_file(self, name: str, data: bytes) -> None:
        join_beneath(self._root, name).replace_file(data)

    def write_if_unchanged(self, name: str, data: bytes, version: str | None) -> str | None:
        target = join_beneath(self._root, name)
        folder = target.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        with _lock_folder(folder):
            if _load_version(target.path) != version:
                return None
            target.replace_file(data)
            return _load_version(target.path)

    def remove_files(self, names: Iterable[str]) -> None:
        for name in names:
            join_beneath(self._root, name).remove()

    def remove_unfinished(self, folder: str) -> None:
        for path in (self._root / folder).glob(f'*{durable.UNFINISHED}*'):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def lock(self, name: str, busy: str) -> Iterator[HeldLock]:
        """The kernel's lock: it ends with the process that holds it, however that ends."""
        path = join_beneath(self._root, name).path
        path.parent.mkdir(parents=True, exist_ok=True)
        with durable.name_file_in_errors(path), path.open('ab') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Fatal(busy) from None
            yield _KernelLock()


def _walk_files(folder: Path) -> Iterator[Path]:
    """All that lies below; OSError for a folder that may not be read: it is not empty for that."""
    for here, _, names in os.walk(folder, onerror=_raise_unless_missing):
        yield from (Path(here, name) for name in names)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


class _KernelLock:
    """Nobody can take it away."""

    def check_held(self) -> None:
        pass

    def confirm_held(self) -> None:
        pass


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Let processes exchange files of a folder one after another, for moments."""
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
