"""Files of a web server, read by ranges (RFC 9110, 14), so that only what is needed is fetched."""

from __future__ import annotations

import io
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import TYPE_CHECKING

from coevo.model.errors import Fatal
from coevo.model.errors import Transient

if TYPE_CHECKING:
    import pyarrow as pa

_PATIENCE = 60.0  # seconds that a server may be silent


class RemoteFile(io.RawIOBase):
    """One file, seekable; what a server sends for it must not change while it is open.

    FileNotFoundError if there is none, Fatal for a server that gives no ranges or another version,
    Transient for the network.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url, self._at = url, 0
        answer, self._version = self._ask({}, 'HEAD')
        self.size = int(answer)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = start + offset
        return self._at

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        last = min(self._at + len(buffer), self.size) - 1
        if last < self._at:
            return 0
        content, version = self._ask({'Range': f'bytes={self._at}-{last}'}, 'GET')
        if version and self._version and version != self._version:
            raise Fatal(f'{self._url} was replaced while it was read: ask again')
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def _ask(self, headers: dict[str, str], method: str) -> tuple[bytes, str | None]:
        """The content, or for HEAD its length as digits; and the server's mark of the version."""
        request = urllib.request.Request(self._url, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                version = answer.headers['ETag'] or answer.headers['Last-Modified']
                if method == 'HEAD':
                    return (answer.headers['Content-Length'] or '').encode(), version
                if answer.status != 206:
                    raise Fatal(f'{self._url}: that server gives no parts of files; download it')
                return answer.read(), version
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                raise FileNotFoundError(self._url) from None
            kind = Transient if error.code >= 500 or error.code == 429 else Fatal
            raise kind(f'{self._url} cannot be read: the server says {error.code}') from None
        except (OSError, HTTPException) as error:
            raise Transient(f'{self._url} cannot be reached: {error}') from None


def over_http(folder: str) -> Callable[[str], pa.NativeFile]:
    """Opens the files of a folder by their names."""
    import pyarrow as pa

    def open(name: str) -> pa.NativeFile:
        return pa.PythonFile(RemoteFile(f'{folder}/{name}'), mode='r')

    return open
