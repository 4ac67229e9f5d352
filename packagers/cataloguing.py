"""The index beside published snapshots, made anew of those that are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from coevo.model.errors import Transient
from coevo.snapshots.catalogue import CATALOGUE
from coevo.snapshots.catalogue import catalogued
from coevo.snapshots.catalogue import text
from coevo.snapshots.manifest_form import is_manifest
from coevo.snapshots.snapshot import MANIFEST
from coevo.storage.place import Root
from coevo.storage.place import Url
from coevo.storage.places import place_of
from packagers import publishing

_TRIES = 20


def beside(snapshot: Root) -> Root | None:
    """Where the catalogue of a snapshot lies; None for one at the top of a bucket."""
    if isinstance(snapshot, Path):
        return snapshot.absolute().parent
    above = snapshot.rpartition('/')[0]
    return None if above == 's3:/' else Url(above)


def rebuild(snapshots: Root) -> str:
    """Write the index of all snapshots right below a folder or prefix; where it lies.

    Who publishes at the same time writes it, too: the last to look has seen all.
    """
    place = place_of(snapshots)
    for _ in range(_TRIES):
        before = place.read(CATALOGUE)
        data = _index(snapshots)
        if before is not None and before.data == data:
            return place.shown(CATALOGUE)
        if place.exchange(CATALOGUE, data, before.version if before else None) is not None:
            return place.shown(CATALOGUE)
    raise Transient(f'{place.shown(CATALOGUE)} is written by others all the time')


def _index(snapshots: Root) -> bytes:
    """What is no snapshot of today's schema is left out: nobody could open it."""
    place = place_of(snapshots)
    names = publishing.names(snapshots)
    found = zip(names, place.read_all([f'{name}/{MANIFEST}' for name in names]), strict=True)
    manifests = ((name, _manifest(one.data)) for name, one in found if one is not None)
    return text([catalogued(name, content) for name, content in manifests if content])


def _manifest(data: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(data)
    except ValueError:
        return None
    return content if is_manifest(content) and 'rows' in content else None
