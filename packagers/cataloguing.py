"""Rebuild the index beside published snapshots from the snapshots that are there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coevo.model.errors import Transient
from coevo.snapshots.catalogue import CATALOGUE, build_catalogue_entry, encode_catalogue
from coevo.snapshots.manifest_form import is_manifest
from coevo.snapshots.manifests import is_private
from coevo.snapshots.snapshot import MANIFEST
from coevo.storage.place import Root, Url
from coevo.storage.places import open_place
from packagers import publishing

_TRIES = 20


def find_catalogue_root(snapshot: Root) -> Root | None:
    """Return the place of a snapshot's catalogue: the folder or prefix above the snapshot.

    None for a snapshot at the top of a bucket.
    """
    if isinstance(snapshot, Path):
        return snapshot.absolute().parent
    above = snapshot.rpartition('/')[0]
    return None if above == 's3:/' else Url(above)


def rebuild_catalogue(snapshots: Root) -> str:
    """Write the index of all snapshots directly below a folder or prefix; return its address.

    Concurrent publishers write it, too; the write is repeated until the index shows all snapshots.

    Raises: Transient if others keep writing it.
    """
    storage = open_place(snapshots)
    for _ in range(_TRIES):
        before = storage.read(CATALOGUE)
        data = _render_index(snapshots)
        if before is not None and before.data == data:
            return storage.describe(CATALOGUE)
        if (
            storage.write_if_unchanged(CATALOGUE, data, before.version if before else None)
            is not None
        ):
            return storage.describe(CATALOGUE)
    raise Transient(f'{storage.describe(CATALOGUE)} is written by others all the time')


def list_private(snapshots: Root) -> tuple[str, ...]:
    """Return the names of private releases at a place, which stay out of its catalogue."""
    return tuple(name for name, content in _load_manifests(snapshots) if is_private(content))


def _render_index(snapshots: Root) -> bytes:
    """Return the bytes of the index of all snapshots at a place.

    Private releases are left out, and so are snapshots of another schema, which this version cannot
    open.
    """
    return encode_catalogue(
        [
            build_catalogue_entry(name, content)
            for name, content in _load_manifests(snapshots)
            if not is_private(content)
        ]
    )


def _load_manifests(snapshots: Root) -> Iterator[tuple[str, dict[str, Any]]]:
    storage = open_place(snapshots)
    names = publishing.list_snapshots(snapshots)
    files = zip(names, storage.load_files([f'{name}/{MANIFEST}' for name in names]), strict=True)
    for name, file in files:
        content = _parse_manifest(file.data) if file is not None else None
        if content:
            yield name, content


def _parse_manifest(data: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(data)
    except ValueError:
        return None
    return content if is_manifest(content) and 'rows' in content else None
