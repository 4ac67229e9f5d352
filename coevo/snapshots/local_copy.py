"""A snapshot as a folder of this machine, for those who read all of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from coevo.model.errors import Damaged
from coevo.model.errors import Fatal
from coevo.snapshots.catalogue import located
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.locations import MOST_OF_A_MANIFEST
from coevo.snapshots.locations import Location
from coevo.snapshots.locations import SnapshotFolder
from coevo.snapshots.manifests import manifest_at
from coevo.storage.beneath import beneath
from coevo.storage.beneath import path_fault
from coevo.storage.bounded_reading import in_words

# The manifest does not name them, since seconds are not the same twice.
TIMINGS = 'data/timings/part-0.parquet'

# Bytes of a file that no manifest lists, unless all that it lists are more.
_UNLISTED = 256 << 20

_BLOCK = 8 << 20


@contextmanager
def local(place: Path | str) -> Iterator[Path]:
    """Its folder, or a copy while entered. Damaged if it is no snapshot.

    A copy has what the manifest names and is there; of a .zip or a bucket also what it does not name.
    A web server does not tell what else it has.
    """
    location = located(place)
    listed = manifest_at(location)['files']
    if isinstance(location, SnapshotFolder):
        yield location.path
        return
    with tempfile.TemporaryDirectory(prefix='coevo-snapshot-') as folder:
        total = _total(location, listed, Path(folder))
        for name in sorted({MANIFEST, TIMINGS, *listed, *location.names()}):
            # What is longer than the manifest says is wrong at any length: one byte shows it.
            most = listed[name]['size'] + 1 if name in listed else max(_UNLISTED, total)
            _copy(location, name, Path(folder), MOST_OF_A_MANIFEST if name == MANIFEST else most)
        yield Path(folder)


def _total(location: Location, listed: Mapping[str, Any], folder: Path) -> int:
    """The bytes of all files that a manifest lists; Fatal where a folder has no room for them."""
    total: int = sum(file['size'] for file in listed.values())
    free = shutil.disk_usage(folder).free
    if total > free:
        raise Fatal(
            f'{location.shown} says that it has {in_words(total)}, and {folder.parent} has room for '
            f'{in_words(free)}: let $TMPDIR name a folder with more, or get the snapshot again'
        )
    return total


def _copy(location: Location, name: str, folder: Path, most: int) -> None:
    """Copy the first `most` bytes of a file; nothing where there is none."""
    if path_fault(name) is not None or str(PurePosixPath(name)) != name:
        raise Damaged(f'{location.shown} has a file {name!r}, which no snapshot has: get it again')
    target = beneath(folder, name)
    try:
        source = location.open(name)
    except FileNotFoundError:
        return
    with source, target.creating() as copy:
        while block := source.read(min(_BLOCK, most)):
            copy.write(block)
            most -= len(block)
