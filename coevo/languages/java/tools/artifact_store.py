"""Files of Maven repositories, fetched once and kept in a folder of Maven's own layout.

Releases never change: what is stored stays. Metadata is fetched once per run and kept in memory;
snapshots are refused, since nobody could build with them again.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from coevo.languages.java.tools.artifact_paths import ArtifactKind, ArtifactResource
from coevo.languages.java.tools.downloads import ArtifactDownloads
from coevo.languages.java.tools.upstreams import Upstream
from coevo.model.errors import Fatal
from coevo.storage.beneath import SafePath, UnsafePath, join_beneath

# Not a name that Maven gives anything: temporary files, on the same file system.
_INCOMING = '.coevo'


class ArtifactStore:
    """`folder` may be shared by several processes; each object remembers what it did not find.

    refused   paths of snapshots that were asked for
    served    paths of releases that were asked for and are there
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
        """The file, or its bytes, or None if there is no such thing; Transient on trouble."""
        if resource.kind is ArtifactKind.SNAPSHOT:
            self.refused.add(resource.path)
            return None
        with self._get_lock(resource.path):
            if resource.path in self._absent:
                return None
            artifact = self._find_artifact(resource)
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
        """Of a stored file, as hexadecimal digits."""
        if path not in self._sha256:
            file = self._folder / path
            if not file.is_file():
                raise Fatal(f'{path} is not among the stored artifacts; build its revision again')
            with file.open('rb') as stream:
                self._sha256[path] = hashlib.file_digest(stream, 'sha256').hexdigest()
        return self._sha256[path]

    def close(self) -> None:
        self._downloads.close()

    def _get_lock(self, path: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(path, threading.Lock())

    def _find_artifact(self, resource: ArtifactResource) -> Path | bytes | None:
        if resource.kind is ArtifactKind.METADATA:
            return self._find_metadata(resource.path)
        try:
            file = join_beneath(self._folder, resource.path)
        except UnsafePath:  # a name that no file system keeps: no repository has it
            return None
        return file.path if file.is_file() or self._download_release(resource.path, file) else None

    def _find_metadata(self, path: str) -> bytes | None:
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
            with suppress(FileExistsError):  # another process was faster; a release stays
                file.add_hard_link(Path(new.name))
        return True


def _compute_checksum(found: Path | bytes, algorithm: str) -> bytes:
    content = found if isinstance(found, bytes) else found.read_bytes()
    return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest().encode()
