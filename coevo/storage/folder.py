"""A place in a folder of this machine, or of a file system that machines share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage import durable
from coevo.storage.beneath import beneath
from coevo.storage.place import Found
from coevo.storage.place import Hold
from coevo.storage.place import PlaceEntry


class Folder:
    """The folder is made by the first writing."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def shown(self, name: str = '') -> str:
        return str(self._root / name)

    def tops(self) -> frozenset[str]:
        return (
            frozenset(path.name for path in self._root.iterdir())
            if self._root.is_dir()
            else frozenset()
        )

    def entries(self, folder: str) -> Sequence[PlaceEntry]:
        return sorted(self._entries(folder), key=lambda entry: entry.name)

    def _entries(self, folder: str) -> Iterator[PlaceEntry]:
        """What others remove meanwhile, as who merges segments does, is not there."""
        for path in _files(self._root / folder):
            if durable.UNFINISHED in path.name:
                continue
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                state = path.stat()
                if stat.S_ISREG(state.st_mode):
                    name = path.relative_to(self._root).as_posix()
                    yield PlaceEntry(name=name, modified=state.st_mtime_ns)

    def read(self, name: str) -> Found | None:
        try:
            with (self._root / name).open('rb') as file:
                state = os.fstat(file.fileno())
                return Found(data=file.read(), version=_version(state), modified=state.st_mtime_ns)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_all(self, names: Sequence[str]) -> Sequence[Found | None]:
        return [self.read(name) for name in names]

    def write(self, name: str, data: bytes) -> None:
        beneath(self._root, name).write(data)

    def exchange(self, name: str, data: bytes, version: str | None) -> str | None:
        place = beneath(self._root, name)
        folder = place.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            if _version_of(place.path) != version:
                return None
            place.write(data)
            return _version_of(place.path)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            beneath(self._root, name).remove()

    def sweep(self, folder: str) -> None:
        for path in (self._root / folder).glob(f'*{durable.UNFINISHED}*'):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def lock(self, name: str, busy: str) -> Iterator[Hold]:
        """The kernel's lock: it ends with the process that holds it, however that ends."""
        path = beneath(self._root, name).path
        path.parent.mkdir(parents=True, exist_ok=True)
        with durable.naming(path), path.open('ab') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Fatal(busy) from None
            yield _Flock()


def _files(folder: Path) -> Iterator[Path]:
    """All that lies below; OSError for a folder that may not be read: it is not empty for that."""
    for here, _, names in os.walk(folder, onerror=_tell):
        yield from (Path(here, name) for name in names)


def _tell(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


class _Flock:
    """Nobody can take it away."""

    def check(self) -> None:
        pass

    def confirm(self) -> None:
        pass


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let processes exchange files of a folder one after another, for moments."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _version_of(path: Path) -> str | None:
    try:
        return _version(path.stat())
    except FileNotFoundError:
        return None


def _version(state: os.stat_result) -> str:
    return f'{state.st_ino}-{state.st_mtime_ns}-{state.st_size}'
