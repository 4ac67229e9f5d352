"""The files that mark a place as a store.

    store.json    its version, written before anything else
    private.json  if it exists, releases of the store are for its owner alone

A place that holds other files cannot become a store.
"""

from __future__ import annotations

import json
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage.place import Root, StoragePlace

# Raised when records are renamed or redefined: stores of an earlier version are not read.
STORE_VERSION = 2

_STAMP, _PRIVATE = 'store.json', 'private.json'

# Names of other parts of a store, which may exist before anything was mined.
_NEIGHBOURS = {
    'clones',
    'cache',
    'crawls',
    'validations',
    'reverifications',
    'measures',
    'claims',
    'failures',
    'months',
    'dates',
    'withdrawals',
    _PRIVATE,
}


def is_store_already(root: Root, place: StoragePlace) -> bool:
    """Return whether a place is a store; False if it may become one.

    Raises: Fatal for other files, or a store of another version.
    """
    if isinstance(root, Path) and root.exists() and not root.is_dir():
        raise Fatal(f'{root} is not a folder: give --store one that is a store, or none yet')
    stamp = place.read(_STAMP)
    if stamp is None:
        if place.list_top_names() - _NEIGHBOURS:
            raise Fatal(f'{root} holds other files and is no store of coevo: use another --store')
        return False
    version = _parse_version(place.describe(_STAMP), stamp.data)
    if version > STORE_VERSION:
        raise Fatal(f'{root} was written by a newer coevo (store version {version}): update coevo')
    if version < STORE_VERSION:
        raise Fatal(
            f'{root} was written by an earlier coevo (store version {version}), whose records have other'
            ' names: mine into a new --store, into which you may move its folder `clones`'
        )
    return True


def _parse_version(shown: str, stamp: bytes) -> int:
    try:
        return int(json.loads(stamp)['coevo-store'])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise Fatal(f'{shown} is not the stamp of a store of coevo: use another --store') from None


def write_stamp(place: StoragePlace) -> None:
    """Mark a place as a store of this version, unless it is marked already."""
    data = f'{json.dumps({"coevo-store": STORE_VERSION})}\n'.encode()
    place.write_if_unchanged(_STAMP, data, None)


def is_marked_private(place: StoragePlace) -> bool:
    """Return whether releases of the store in a place are for its owner alone."""
    return place.read(_PRIVATE) is not None


def write_private_mark(place: StoragePlace) -> None:
    """Mark the store in a place as private, for good."""
    place.write_if_unchanged(_PRIVATE, b'{"private": true}\n', None)
