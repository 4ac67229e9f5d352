"""Where a store lies: in a folder (`coevo.storage.folder`) or in an object store
(`coevo.storage.objects`). Files are named by relative paths with `/`, and are whole or not there.
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
from coevo.storage.folders import find_cache_folder

Url = NewType('Url', str)
# What a user names.
Root = Path | Url

_S3 = re.compile(r's3://[a-z0-9][a-z0-9.-]+(/[^/?#@]+)*')


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceEntry:
    """A file's name, and when it was written: nanoseconds since 1970 by the place's own clock."""

    name: str
    modified: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file's content; `version` is another one after each change."""

    data: bytes
    version: str
    modified: int


class HeldLock(Protocol):
    """A lock that is held, as far as one can know."""

    def check_held(self) -> None:
        """Transient if it is known to be lost. Costs nothing."""

    def confirm_held(self) -> None:
        """Make sure of it, or Transient."""


class StoragePlace(Protocol):
    def describe(self, name: str = '') -> str:
        """The place, or a file of it, as a user would write it."""

    def list_top_names(self) -> frozenset[str]:
        """The names of files and folders at its top."""

    def list_files(self, folder: str) -> Sequence[PlaceEntry]:
        """All files below a folder, by name."""

    def read(self, name: str) -> StoredFile | None: ...

    def load_files(self, names: Sequence[str]) -> Sequence[StoredFile | None]:
        """The same for many, in their order."""

    def write_file(self, name: str, data: bytes) -> None:
        """Replace a file, or make it."""

    def write_if_unchanged(self, name: str, data: bytes, version: str | None) -> str | None:
        """Write a file if it has that version still, or (None) if there is none.

        The new version; None if somebody else was first, unless he wrote the same bytes.
        """

    def remove_files(self, names: Iterable[str]) -> None:
        """Remove files; one that is not there will do."""

    def remove_unfinished(self, folder: str) -> None:
        """Remove what kills left unfinished right in a folder."""

    def lock(self, name: str, busy: str) -> AbstractContextManager[HeldLock]:
        """Keep others out, by a file of that name; Fatal with that sentence if one is in."""


def parse_root(text: str) -> Root:
    """The words of a user: a URL of an object store, or else a folder."""
    if '://' not in text:
        return Path(text)
    plain = text.rstrip('/')
    if not _S3.fullmatch(plain):
        # It isn't repeated: who writes a key into a URL must not find it in a log.
        raise Fatal(
            'An object store is named as s3://BUCKET/PREFIX; its address and its keys are taken '
            'from AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and so on'
        )
    return Url(plain)


def find_local_folder(store: Root) -> Path:
    """The folder of a store's clones and caches: the store, or one of this machine's for a URL."""
    if isinstance(store, Path):
        return store
    return find_cache_folder() / 'stores' / encode_folder_name(store.replace('://', '/'))


def encode_folder_name(name: str) -> str:
    """Return a name with slashes as that of one file or folder; what no file could have is as in a URL.

    A name of dots alone, such as `..`, would be another folder: its first dot is as in a URL, too.
    """
    text = '+'.join(quote(part, safe='') for part in name.split('/'))
    return f'%2E{text[1:]}' if text and not text.strip('.') else text


def decode_folder_name(folder: str) -> str:
    """The name of which `encode_folder_name` made this."""
    return '/'.join(unquote(part) for part in folder.split('+'))
