"""The interface of a storage place: a folder or an object store.

`coevo.storage.places` and `coevo.storage.objects` implement it. Files are named by relative paths
with `/`. Each is complete or absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NewType, Protocol
from urllib.parse import quote, unquote

from coevo.model.errors import Fatal
from coevo.storage.disk import find_cache_folder

Url = NewType('Url', str)
# A storage place as the user names it.
Root = Path | Url

_S3 = re.compile(r's3://[a-z0-9][a-z0-9.-]+(/[^/?#@]+)*')


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceEntry:
    """A file's name, its bytes, and the time of writing by the place's own clock.

    modified  nanoseconds since 1970
    """

    name: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file's content; `version` differs after each change."""

    data: bytes
    version: str
    modified: int


class HeldLock(Protocol):
    """A lock that this process holds, as far as it can know."""

    def check_held(self) -> None:
        """Check the lock without contacting the place.

        Raises: Transient if it is known to be lost.
        """

    def confirm_held(self) -> None:
        """Make sure that the lock is still held.

        Raises: Transient if it is lost or cannot be confirmed.
        """


class StoragePlace(Protocol):
    """A store of named files with atomic, conditional writes and locks."""

    def describe(self, name: str = '') -> str:
        """Return the location of the place, or of a file in it, as a user would write it."""

    def list_top_names(self) -> frozenset[str]:
        """Return the names of the files and folders at the top level."""

    def list_files(self, folder: str) -> Sequence[PlaceEntry]:
        """Return all files below a folder, sorted by name."""

    def read(self, name: str) -> StoredFile | None:
        """Return a file with its version; None if it does not exist."""

    def load_files(self, names: Sequence[str]) -> Sequence[StoredFile | None]:
        """Return many files as `read` does, in the order of their names in the call."""

    def write_file(self, name: str, data: bytes) -> None:
        """Create or replace a file atomically."""

    def write_if_unchanged(self, name: str, data: bytes, version: str | None) -> str | None:
        """Write a file if it still has `version`; None means that it must not exist yet.

        Return the new version; None if the condition failed. A store may also report success if
        another process wrote the same bytes.
        """

    def remove_files(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""

    def remove_unfinished(self, folder: str) -> None:
        """Remove the temporary files directly in a folder that killed processes left."""

    def lock(self, name: str, busy: str) -> AbstractContextManager[HeldLock]:
        """Hold an exclusive lock by a file of that name.

        Raises: Fatal with the sentence `busy` if another process holds it.
        """


def parse_root(text: str) -> Root:
    """Return the storage place that a user named: the URL of an object store, or else a folder.

    Raises: Fatal for any other URL.
    """
    if '://' not in text:
        return Path(text)
    plain = text.rstrip('/')
    if not _S3.fullmatch(plain):
        # The text is not repeated in the message: it may contain a key, which must not appear in a
        # log.
        raise Fatal(
            'An object store is named as s3://BUCKET/PREFIX; its address and its keys are taken '
            'from AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and so on'
        )
    return Url(plain)


def find_local_folder(store: Root) -> Path:
    """Return the folder of this machine for a store's clones and caches.

    It is the store itself, or for a URL a folder below coevo's cache.
    """
    if isinstance(store, Path):
        return store
    return find_cache_folder() / 'stores' / encode_folder_name(store.replace('://', '/'))


def encode_folder_name(name: str) -> str:
    """Return a name with slashes as the name of a single file or folder.

    `+` stands for `/`, and other characters that a file name must not have are URL escapes. The
    first dot of a name that consists of dots is escaped, too: `..` would be another folder.
    """
    text = '+'.join(quote(part, safe='') for part in name.split('/'))
    return f'%2E{text[1:]}' if text and not text.strip('.') else text


def decode_folder_name(folder: str) -> str:
    """Return the name that `encode_folder_name` encoded."""
    return '/'.join(unquote(part) for part in folder.split('+'))
