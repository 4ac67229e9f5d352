"""Make a snapshot available as a local folder, for code that reads all of it."""

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

# The manifest does not list the timings, since no two runs take the same number of seconds.
TIMINGS = 'data/timings/part-0.parquet'

# Most bytes of a file that the manifest does not list, unless all listed files together are larger.
_UNLISTED = 256 << 20

_BLOCK = 8 << 20


@contextmanager
def open_local_copy(place: Path | str) -> Iterator[Path]:
    """Yield the snapshot's folder, or a copy of the snapshot that is deleted afterwards.

    A copy holds the files that the manifest names. From a .zip or a bucket it also holds the files
    that the manifest does not name; a web server cannot list those.

    Raises: DamagedSnapshot if the place holds no valid snapshot.
    """
    location = resolve_location(place)
    listed = load_manifest_at(location)['files']
    if isinstance(location, SnapshotFolder):
        yield location.path
        return
    with tempfile.TemporaryDirectory(prefix='coevo-snapshot-') as folder:
        total = _compute_size_and_check_space(location, listed, Path(folder))
        for name in sorted({MANIFEST, TIMINGS, *listed, *location.names()}):
            # One byte beyond the size in the manifest is enough to show that a file is wrong.
            most = listed[name]['size'] + 1 if name in listed else max(_UNLISTED, total)
            _copy_file_if_present(
                location, name, Path(folder), MOST_OF_A_MANIFEST if name == MANIFEST else most
            )
        yield Path(folder)


def _compute_size_and_check_space(
    location: Location, listed: Mapping[str, Any], folder: Path
) -> int:
    """Return the bytes of all files that a manifest lists.

    Raises: Fatal if a folder has no room for them.
    """
    total: int = sum(file['size'] for file in listed.values())
    free = shutil.disk_usage(folder).free
    if total > free:
        raise Fatal(
            f'{location.shown} says that it has {format_size(total)}, and {folder.parent} has room for '
            f'{format_size(free)}: let $TMPDIR name a folder with more, or get the snapshot again'
        )
    return total


def _copy_file_if_present(location: Location, name: str, folder: Path, most: int) -> None:
    """Copy at most `most` bytes of a file; do nothing if it does not exist.

    Raises: DamagedSnapshot if the name is no safe path.
    """
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
