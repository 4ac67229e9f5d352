"""Read files of a web server by ranges (RFC 9110, 14), and give DuckDB a file system of them, so
that only needed parts are read.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem

from coevo.model.errors import Fatal, Transient
from coevo.storage.bounded_http import HttpAnswer, HttpStatusError, ServerUnreachable, open_url
from coevo.storage.bounded_reading import ContentTooLarge, ContentTooSlow, format_size

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# Most bytes of one read. The largest is a compressed row group; a longer one is due to a false
# length.
_MOST_AT_ONCE = 256 << 20

# Seconds to wait for an answer, and the slowest rate in bytes per second that is accepted.
_PATIENCE, _LEAST_RATE = 60.0, 50_000

_LENGTH = re.compile('[0-9]{1,18}')


class RemoteFile(io.RawIOBase):
    """A seekable file of a web server, which must not change while it is open.

    Raises: FileNotFoundError if the server has no such file; Fatal if it does not support ranges or
    sends another version; Transient for network failures.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url, self._at = url, 0
        self.size, self._version = self._fetch_length()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset, and return the new position; no request is sent."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = start + offset
        return self._at

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fetch the next bytes into a buffer, and return their number, which is 0 at the end."""
        last = min(self._at + len(buffer), self.size) - 1
        if last < self._at:
            return 0
        content, version = self._fetch_part(self._at, last)
        if version and self._version and version != self._version:
            raise Fatal(f'{self._url} was replaced while it was read: ask again')
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def _fetch_length(self) -> tuple[int, str | None]:
        """Return the length in bytes, and the server's identifier of the version or None."""
        with self._open_answer('HEAD', {}, _PATIENCE) as answer:
            length = answer.headers.get('Content-Length', '')
            if not _LENGTH.fullmatch(length):
                raise Fatal(f'{self._url}: that server does not say how long it is; download it')
            return int(length), _load_version(answer)

    def _fetch_part(self, first: int, last: int) -> tuple[bytes, str | None]:
        """Return the bytes from `first` to `last`, both included, and the id of their version."""
        size = last - first + 1
        if size > _MOST_AT_ONCE:
            raise Fatal(
                f'{self._url} is damaged, for {format_size(size)} of it belong together: get it again'
            )
        part = {'Range': f'bytes={first}-{last}'}
        with self._open_answer('GET', part, _PATIENCE + size / _LEAST_RATE) as answer:
            if answer.status != 206:
                raise Fatal(f'{self._url}: that server gives no parts of files; download it')
            content = answer.read(most=size)
            if len(content) != size:
                raise ContentTooLarge(f'has {len(content)} bytes')
            return content, _load_version(answer)

    @contextmanager
    def _open_answer(
        self, method: str, headers: Mapping[str, str], seconds: float
    ) -> Iterator[HttpAnswer]:
        """Yield the server's answer, and translate errors into those of the class."""
        try:
            with open_url(self._url, seconds=seconds, method=method, headers=headers) as answer:
                yield answer
        except HttpStatusError as error:
            if error.status in (404, 410):
                raise FileNotFoundError(self._url) from None
            kind = Transient if error.status >= 500 or error.status == 429 else Fatal
            raise kind(f'{self._url} cannot be read: the server says {error.status}') from None
        except (ServerUnreachable, ContentTooSlow) as error:
            raise Transient(f'{self._url} cannot be reached: {error}') from None
        except ContentTooLarge:
            raise Fatal(
                f'{self._url}: that server sends other parts than are asked for; download it'
            ) from None


def _load_version(answer: HttpAnswer) -> str | None:
    return answer.headers.get('ETag') or answer.headers.get('Last-Modified')


def make_http_opener(folder: str) -> Callable[[str], pa.NativeFile]:
    """Return a function that opens the files of a remote folder by name."""
    import pyarrow as pa

    def open_remote_file(name: str) -> pa.NativeFile:
        """Open a file by its name in the folder."""
        return pa.PythonFile(RemoteFile(f'{folder}/{name}'), mode='r')

    return open_remote_file


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
