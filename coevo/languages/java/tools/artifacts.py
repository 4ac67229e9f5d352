"""The only way out of a build: package repositories behind an HTTP proxy on a Unix socket.

Only reading, only clean paths of Maven's layout, only from the repositories that this machine's own
Maven would ask, whatever a POM names.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer
from types import TracebackType
from typing import Any, Self

from coevo.languages.java.tools.artifact_paths import parse_request_path
from coevo.languages.java.tools.artifact_store import ArtifactStore
from coevo.languages.java.tools.upstreams import Upstream, list_upstreams
from coevo.model.errors import Transient
from coevo.sandboxes.bounded_threads import CONNECTIONS, BoundedThreads
from coevo.sandboxes.socket_addresses import shorten_address

__all__ = ['ArtifactProxy', 'Upstream', 'list_upstreams']

_IDLE_SECONDS = 60


class ArtifactProxy:
    """Serves while it is entered; safe from several threads, several may share a folder.

    socket   where it listens; open to all users, who must know the path
    trouble  requests that could not be answered because of the network or a repository, so far:
             what a build makes of them is no verdict
    """

    def __init__(
        self, upstreams: Sequence[Upstream], shared: Path, socket: Path, *, pause: float = 1
    ) -> None:
        """`shared`: a folder in Maven's layout; `pause`: seconds before the second try."""
        self.socket = socket
        self.trouble = 0
        self._store = ArtifactStore(upstreams, shared, pause=pause)
        self._guard = threading.Lock()

    @property
    def refused(self) -> frozenset[str]:
        """Paths of snapshots that were asked for."""
        return frozenset(self._store.refused)

    @property
    def served(self) -> dict[str, str]:
        """Paths of releases that were asked for and found, with their SHA-256."""
        return {path: self.get_sha256(path) for path in sorted(self._store.served)}

    def get_sha256(self, path: str) -> str:
        """Of a stored file, by its path in the repository; Fatal if it is not there."""
        return self._store.get_sha256(path)

    def __enter__(self) -> Self:
        self._server = _ArtifactServer(self, self._store)
        self.socket.chmod(0o666)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._store.close()
        self.socket.unlink(missing_ok=True)

    def note_trouble(self) -> None:
        with self._guard:
            self.trouble += 1


class _ArtifactServer(BoundedThreads, UnixStreamServer):
    request_queue_size = CONNECTIONS

    def __init__(self, proxy: ArtifactProxy, store: ArtifactStore) -> None:
        self.proxy, self.store = proxy, store
        with shorten_address(proxy.socket) as address:
            super().__init__(address, _ArtifactHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of ours; all else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _ArtifactHandler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version = 'coevo'
    sys_version = ''
    timeout = _IDLE_SECONDS
    server: _ArtifactServer

    def do_GET(self) -> None:
        resource = parse_request_path(self.path)
        if resource is None:
            return self._send_refusal(HTTPStatus.BAD_REQUEST)
        try:
            artifact = self.server.store.obtain(resource)
        except Transient:
            self.server.proxy.note_trouble()
            return self._send_refusal(HTTPStatus.GATEWAY_TIMEOUT)
        if artifact is None:
            return self._send_refusal(HTTPStatus.NOT_FOUND)
        if isinstance(artifact, bytes):
            return self._send_bytes(artifact)
        return self._send_file(artifact)

    do_HEAD = do_GET

    def _send_refusal(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def _send_head(self, size: int) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header('Content-Type', 'application/octet-stream')
        self.send_header('Content-Length', str(size))
        self.end_headers()

    def _send_bytes(self, body: bytes) -> None:
        self._send_head(len(body))
        if self.command == 'GET':
            self.wfile.write(body)

    def _send_file(self, file: Path) -> None:
        with file.open('rb') as stream:
            self._send_head(file.stat().st_size)
            if self.command == 'GET':
                shutil.copyfileobj(stream, self.wfile)

    def address_string(self) -> str:
        return 'sandbox'

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: a build asks for hundreds of files."""
