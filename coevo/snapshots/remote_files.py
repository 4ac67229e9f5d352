"""Files that lie elsewhere as a file system of DuckDB's, which then reads by ranges what it needs."""

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

# Of a file that does not change while it is open; DuckDB asks whether what it keeps of it still holds.
_MODIFIED = datetime(1970, 1, 1, tzinfo=UTC)


def attach_files(
    connection: duckdb.DuckDBPyConnection, place: str, files: Mapping[str, pa.NativeFile]
) -> list[str]:
    """Let a connection read open files of a place by their names there; what it reads them by."""
    names = '\n'.join((place, *files))
    protocol = f'coevo{hashlib.sha256(names.encode()).hexdigest()[:16]}'
    if protocol not in connection.list_filesystems():
        connection.register_filesystem(_OpenFileSystem(protocol, files))
    return [f'{protocol}://{name}' for name in files]


class _OpenFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Open files by their names (https://filesystem-spec.readthedocs.io)."""

    cachable = False

    def __init__(self, protocol: str, files: Mapping[str, pa.NativeFile]) -> None:
        super().__init__()
        self.protocol = protocol
        self._files = files

    def _open(self, path: str, mode: str = 'rb', **_: Any) -> _ThreadwiseReader:
        return _ThreadwiseReader(self._find_file(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {'name': path, 'size': self._find_file(path).size(), 'type': 'file'}

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path] if path.removeprefix(f'{self.protocol}://') in self._files else []

    def modified(self, path: str) -> datetime:
        return _MODIFIED

    def _find_file(self, path: str) -> pa.NativeFile:
        return self._files[path.removeprefix(f'{self.protocol}://')]


class _ThreadwiseReader(io.RawIOBase):
    """One file, of which every thread has a place of its own: DuckDB's threads share it."""

    def __init__(self, file: pa.NativeFile) -> None:
        super().__init__()
        self._file, self._place = file, threading.local()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(getattr(self._place, 'at', 0))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self._file.size()}[whence]
        self._place.at = start + offset
        return self.tell()

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        content = self._file.read_at(len(buffer), self.tell())
        buffer[: len(content)] = content
        self._place.at = self.tell() + len(content)
        return len(content)
