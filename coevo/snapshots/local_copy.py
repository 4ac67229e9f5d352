"""A snapshot as a folder of this machine, for those who read all of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.locations import MANIFEST, MOST_OF_A_MANIFEST, Location, SnapshotFolder
from coevo.snapshots.manifests import load_manifest_at
from coevo.storage.beneath import find_path_fault, join_beneath
from coevo.storage.bounded_reading import format_size

# The manifest does not name them, since seconds are not the same twice.
TIMINGS = 'data/timings/part-0.parquet'

# Bytes of a file that no manifest lists, unless all that it lists are more.
_UNLISTED = 256 << 20

_BLOCK = 8 << 20


@contextmanager
def open_local_copy(place: Path | str) -> Iterator[Path]:
    """Its folder, or a copy while entered. Damaged if it is no snapshot.

    A copy has what the manifest names and is there; of a .zip or a bucket also what it does not name.
    A web server does not tell what else it has.
    """
    location = resolve_location(place)
    listed = load_manifest_at(location)['files']
    if isinstance(location, SnapshotFolder):
        yield location.path
        return
    with tempfile.TemporaryDirectory(prefix='coevo-snapshot-') as folder:
        total = _compute_total_size(location, listed, Path(folder))
        for name in sorted({MANIFEST, TIMINGS, *listed, *location.names()}):
            # What is longer than the manifest says is wrong at any length: one byte shows it.
            most = listed[name]['size'] + 1 if name in listed else max(_UNLISTED, total)
            _copy_file(
                location, name, Path(folder), MOST_OF_A_MANIFEST if name == MANIFEST else most
            )
        yield Path(folder)


def _compute_total_size(location: Location, listed: Mapping[str, Any], folder: Path) -> int:
    """The bytes of all files that a manifest lists; Fatal where a folder has no room for them."""
    total: int = sum(file['size'] for file in listed.values())
    free = shutil.disk_usage(folder).free
    if total > free:
        raise Fatal(
            f'{location.shown} says that it has {format_size(total)}, and {folder.parent} has room for '
            f'{format_size(free)}: let $TMPDIR name a folder with more, or get the snapshot again'
        )
    return total


def _copy_file(location: Location, name: str, folder: Path, most: int) -> None:
    """Copy the first `most` bytes of a file; nothing where there is none."""
    if find_path_fault(name) is not None or str(PurePosixPath(name)) != name:
        raise DamagedSnapshot(
            f'{location.shown} has a file {name!r}, which no snapshot has: get it again'
        )
    target = join_beneath(folder, name)
    try:
        source = location.open(name)
    except FileNotFoundError:
        return
    with source, target.open_new_file() as copy:
        while block := source.read(min(_BLOCK, most)):
            copy.write(block)
            most -= len(block)
