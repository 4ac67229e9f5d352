"""A snapshot as a folder of this machine, for those who read all of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pathlib import PurePosixPath

from coevo.model.errors import Damaged
from coevo.snapshots.catalogue import located
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.locations import Location
from coevo.snapshots.locations import SnapshotFolder
from coevo.snapshots.manifests import manifest_at
from coevo.storage import durable

# The manifest does not name them, since seconds are not the same twice.
TIMINGS = 'data/timings/part-0.parquet'

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
        for name in sorted({MANIFEST, TIMINGS, *listed, *location.names()}):
            _copy(location, name, Path(folder))
        yield Path(folder)


def _copy(location: Location, name: str, folder: Path) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or '..' in path.parts or str(path) != name or name == '.':
        raise Damaged(f'{location.shown} has a file {name!r}, which no snapshot has: get it again')
    target = folder / path
    try:
        source = location.open(name)
    except FileNotFoundError:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, durable.naming(target), target.open('wb') as copy:
        while block := source.read(_BLOCK):
            copy.write(block)
