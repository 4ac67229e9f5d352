"""Give DuckDB a file system for remote files, so that it reads only the ranges it needs."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# DuckDB compares this time to decide whether its cache is valid; an open file does not change.
_MODIFIED = datetime(1970, 1, 1, tzinfo=UTC)


def register_files(
    connection: duckdb.DuckDBPyConnection, place: str, files: Mapping[str, pa.NativeFile]
) -> list[str]:
    """Register open files with a connection, and return the names under which it reads them.

    place  the snapshot's location
    files  open files by their names there
    """
    names = '\n'.join((place, *files))
    protocol = f'coevo{hashlib.sha256(names.encode()).hexdigest()[:16]}'
    if protocol not in connection.list_filesystems():
        connection.register_filesystem(_OpenFileSystem(protocol, files))
    return [f'{protocol}://{name}' for name in files]


class _OpenFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """An fsspec file system of open files (https://filesystem-spec.readthedocs.io)."""

    cachable = False

    def __init__(self, protocol: str, files: Mapping[str, pa.NativeFile]) -> None:
        super().__init__()
        self.protocol = protocol
        self._files = files

    def _open(self, path: str, mode: str = 'rb', **_: Any) -> _ThreadwiseReader:
        return _ThreadwiseReader(self._find_file(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name and size, as fsspec does."""
        return {'name': path, 'size': self._find_file(path).size(), 'type': 'file'}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the path itself if there is such a file: patterns are not supported."""
        return [path] if path.removeprefix(f'{self.protocol}://') in self._files else []

    def modified(self, path: str) -> datetime:
        """Return the same time for every file."""
        return _MODIFIED

    def _find_file(self, path: str) -> pa.NativeFile:
        return self._files[path.removeprefix(f'{self.protocol}://')]


class _ThreadwiseReader(io.RawIOBase):
    """A file with one read position for each thread, since DuckDB's threads share it."""

    def __init__(self, file: pa.NativeFile) -> None:
        super().__init__()
        self._file, self._place = file, threading.local()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position of this thread."""
        return int(getattr(self._place, 'at', 0))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position of this thread, and return it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self._file.size()}[whence]
        self._place.at = start + offset
        return self.tell()

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read the next bytes of this thread into a buffer, and return their number."""
        content = self._file.read_at(len(buffer), self.tell())
        buffer[: len(content)] = content
        self._place.at = self.tell() + len(content)
        return len(content)
