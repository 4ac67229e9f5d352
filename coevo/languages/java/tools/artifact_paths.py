"""Paths of a Maven repository: what a request is for, and what is refused before anything is done.

The layout is Maven's own: GROUP/WITH/SLASHES/ARTIFACT/VERSION/ARTIFACT-VERSION[-CLASSIFIER].TYPE,
with maven-metadata.xml beside versions and a checksum file beside every file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

METADATA = 'maven-metadata.xml'
_CHECKSUMS = ('md5', 'sha1', 'sha256', 'sha512')
_PART = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.+~,=@!$-]*')
_LONGEST = 1024


class ArtifactKind(StrEnum):
    """`snapshot`: a version under development, whose files change under the same name."""

    RELEASE = 'release'
    METADATA = 'metadata'
    SNAPSHOT = 'snapshot'


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactResource:
    """A file of a repository, or one of its checksums.

    path      of the file, relative to the repository
    checksum  the hash algorithm whose value was asked for, None for the file itself
    """

    path: str
    kind: ArtifactKind
    checksum: str | None


def parse_request_path(target: str) -> ArtifactResource | None:
    """What an HTTP request target such as /g/a/1/a-1.jar.sha1 asks for; None if it is not clean."""
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
