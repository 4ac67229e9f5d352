"""The only network access of a build: package repositories behind an HTTP proxy on a Unix socket.

The proxy only reads, accepts only clean paths of Maven's layout, and contacts only the repositories
that this machine's own Maven would use, whatever a POM names.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from coevo.languages.java.tools.upstreams import ArtifactDownloads, Upstream, list_upstreams
from coevo.model.errors import Fatal, Transient
from coevo.sandboxes.read_only_proxy import CONNECTIONS, BoundedThreads, shorten_address
from coevo.storage.beneath import SafePath, UnsafePath, join_beneath

__all__ = ['ArtifactProxy', 'Upstream', 'list_upstreams']

_IDLE_SECONDS = 60


class ArtifactProxy:
    """An HTTP proxy that serves artifacts inside a `with` block; thread-safe.

    Several proxies may share a folder.

    socket   where it listens; open to all users that know the path
    trouble  number of requests so far that failed because of the network or a repository;
             the outcome of a build with such requests is not a verdict
    """

    def __init__(
        self, upstreams: Sequence[Upstream], shared: Path, socket: Path, *, pause: float = 1
    ) -> None:
        """Create a proxy; it starts to listen when its `with` block is entered.

        shared   the folder, in Maven's layout, where files are kept
        pause    seconds before the second try
        """
        self.socket = socket
        self.trouble = 0
        self._store = ArtifactStore(upstreams, shared, pause=pause)
        self._guard = threading.Lock()

    @property
    def refused_snapshot_paths(self) -> frozenset[str]:
        """Paths of snapshot versions that were requested; each such request got status 404."""
        return frozenset(self._store.refused)

    @property
    def sha256_of_served_releases(self) -> dict[str, str]:
        """Paths of releases that were requested and found, with their SHA-256."""
        return {path: self.get_sha256(path) for path in sorted(self._store.served)}

    def get_sha256(self, path: str) -> str:
        """Return the SHA-256 of a stored file, by its path in the repository.

        Raises: Fatal if the file is not stored.
        """
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

    def count_failed_request(self) -> None:
        """Count a request that failed because of the network or a repository."""
        with self._guard:
            self.trouble += 1


class _ArtifactServer(BoundedThreads, UnixStreamServer):
    request_queue_size = CONNECTIONS

    def __init__(self, proxy: ArtifactProxy, store: ArtifactStore) -> None:
        self.proxy, self.store = proxy, store
        with shorten_address(proxy.socket) as address:
            super().__init__(address, _ArtifactHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; show every other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _ArtifactHandler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version = 'coevo'
    sys_version = ''
    timeout = _IDLE_SECONDS
    server: _ArtifactServer

    def do_GET(self) -> None:
        """Answer a request with a file's content or with an error status.

        400 means that the path is not clean, 404 that no repository has it, 504 that a repository
        could not answer.
        """
        resource = parse_request_path(self.path)
        if resource is None:
            return self._send_refusal(HTTPStatus.BAD_REQUEST)
        try:
            artifact = self.server.store.obtain(resource)
        except Transient:
            self.server.proxy.count_failed_request()
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
        """Return a fixed name, since a Unix socket has no client address."""
        return 'sandbox'

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: a build requests hundreds of files."""


# Files of Maven repositories, fetched once and kept in a folder of Maven's own layout.
#
# Releases never change, so stored files are kept. Metadata is fetched once per run and kept in
# memory. Snapshots are refused, since such a build could not be repeated later.

# Folder for temporary files, on the same file system. Maven uses no such name.
_INCOMING = '.coevo'


class ArtifactStore:
    """A folder of repository files, which are downloaded when they are first asked for.

    Several processes may share the folder. Each object remembers what it did not find.

    refused   paths of snapshots that were requested
    served    paths of releases that were requested and found
    """

    def __init__(self, upstreams: Sequence[Upstream], folder: Path, *, pause: float = 1) -> None:
        self._downloads = ArtifactDownloads(upstreams, pause=pause)
        self._folder = folder
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._absent: set[str] = set()
        self._metadata: dict[str, bytes] = {}
        self._sha256: dict[str, str] = {}
        self.refused: set[str] = set()
        self.served: set[str] = set()
        (folder / _INCOMING).mkdir(parents=True, exist_ok=True)

    def obtain(self, resource: ArtifactResource) -> Path | bytes | None:
        """Return a release's path, or the bytes of metadata or a checksum; None if there is none.

        Downloads a file that is not stored. A snapshot is refused with None. Raises: Transient if a
        repository could not answer.
        """
        if resource.kind is ArtifactKind.SNAPSHOT:
            self.refused.add(resource.path)
            return None
        with self._get_lock(resource.path):
            if resource.path in self._absent:
                return None
            artifact = self._find_or_download_artifact(resource)
            if artifact is None:
                self._absent.add(resource.path)
                return None
        if resource.kind is ArtifactKind.RELEASE:
            self.served.add(resource.path)
        return (
            artifact
            if resource.checksum is None
            else _compute_checksum(artifact, resource.checksum)
        )

    def get_sha256(self, path: str) -> str:
        """Return the SHA-256 of a stored file as hexadecimal digits.

        Raises: Fatal if the file is not stored.
        """
        if path not in self._sha256:
            file = self._folder / path
            if not file.is_file():
                raise Fatal(f'{path} is not among the stored artifacts; build its revision again')
            with file.open('rb') as stream:
                self._sha256[path] = hashlib.file_digest(stream, 'sha256').hexdigest()
        return self._sha256[path]

    def close(self) -> None:
        """Close the connections to the repositories."""
        self._downloads.close()

    def _get_lock(self, path: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(path, threading.Lock())

    def _find_or_download_artifact(self, resource: ArtifactResource) -> Path | bytes | None:
        if resource.kind is ArtifactKind.METADATA:
            return self._download_metadata_once(resource.path)
        try:
            file = join_beneath(self._folder, resource.path)
        except UnsafePath:  # a name that no file system can store, so no repository has it
            return None
        return file.path if file.is_file() or self._download_release(resource.path, file) else None

    def _download_metadata_once(self, path: str) -> bytes | None:
        if path not in self._metadata:
            body = io.BytesIO()
            if not self._downloads.fetch(path, body):
                return None
            self._metadata[path] = body.getvalue()
        return self._metadata[path]

    def _download_release(self, path: str, file: SafePath) -> bool:
        with tempfile.NamedTemporaryFile(dir=self._folder / _INCOMING) as new:
            if not self._downloads.fetch(path, new):
                return False
            new.flush()
            os.fchmod(new.fileno(), 0o644)
            os.fsync(new.fileno())
            with suppress(FileExistsError):  # another process was faster; releases never change
                file.add_hard_link(Path(new.name))
        return True


def _compute_checksum(found: Path | bytes, algorithm: str) -> bytes:
    content = found if isinstance(found, bytes) else found.read_bytes()
    return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest().encode()


# Paths of a Maven repository: parse the target of a request and refuse bad paths before any action.
#
# The layout is Maven's own: GROUP/WITH/SLASHES/ARTIFACT/VERSION/ARTIFACT-VERSION[-CLASSIFIER].TYPE,
# with maven-metadata.xml beside the versions and a checksum file beside every file.

METADATA = 'maven-metadata.xml'
_CHECKSUMS = ('md5', 'sha1', 'sha256', 'sha512')
_PART = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.+~,=@!$-]*')
_LONGEST = 1024


class ArtifactKind(StrEnum):
    """The kind of a repository file: a release's, metadata, or a snapshot's.

    A snapshot is a version under development, whose files keep changing.
    """

    RELEASE = 'release'
    METADATA = 'metadata'
    SNAPSHOT = 'snapshot'


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactResource:
    """A file of a repository, or one of its checksums.

    path      path of the file, relative to the repository
    checksum  the requested hash algorithm; None for the file itself
    """

    path: str
    kind: ArtifactKind
    checksum: str | None


def parse_request_path(target: str) -> ArtifactResource | None:
    """Return what an HTTP request target asks for, such as `/g/a/1/a-1.jar.sha1`.

    Returns None if it is not a clean path of a repository file.
    """
    path = unquote(target)
    parts = path.split('/')
    if parts[0] or len(path) > _LONGEST or not all(map(_PART.fullmatch, parts[1:])):
        return None
    path, checksum = _split_checksum(path[1:])
    kind = _classify_path(path.split('/'))
    return ArtifactResource(path=path, kind=kind, checksum=checksum) if kind else None


def _split_checksum(path: str) -> tuple[str, str | None]:
    file, _, suffix = path.rpartition('.')
    return (file, suffix) if suffix in _CHECKSUMS else (path, None)


def _classify_path(parts: list[str]) -> ArtifactKind | None:
    *folders, name = parts
    if any(part.endswith('-SNAPSHOT') for part in folders):
        return ArtifactKind.SNAPSHOT
    if name == METADATA:
        return ArtifactKind.METADATA if folders else None
    if len(folders) < 3:
        return None
    *_, artifact, version = folders
    return ArtifactKind.RELEASE if name.startswith(f'{artifact}-{version}') else None
