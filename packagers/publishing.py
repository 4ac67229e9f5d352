"""Put a snapshot where readers look for it: whole or not at all, and never over another one.

A folder is renamed. In an object store the manifest makes a snapshot: it is created last, where
there is none. Until then a lease keeps other writers out, and what a killed one left is replaced.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.snapshot import MANIFEST
from coevo.storage import durable
from coevo.storage.place import Hold
from coevo.storage.place import Place
from coevo.storage.place import Root
from coevo.storage.place import Url
from coevo.storage.places import place_of

_LEASE = 'release.lock'

# What stands at the top of a snapshot, and of an edition of one.
_TOPS = {
    'data',
    *(f'{head}{name}' for head in ('', FULL) for name in ('README.md', 'croissant.json')),
}
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


def check(target: Root) -> None:
    """Fatal if what is there is neither nothing nor a snapshot."""
    if not isinstance(target, Path):
        place = place_of(target)
        if place.read(MANIFEST) is None:
            _check_names(place, place.tops() - _TOPS - {f'{FULL}{MANIFEST}'})
        return
    if not target.exists() or (target / MANIFEST).is_file():
        return
    if not target.is_dir() or any(target.iterdir()):
        raise Fatal(f'{target} is there and is no snapshot: name another folder')


def below(snapshots: Root, name: str) -> Root:
    """Where the snapshot of that name lies, or would lie."""
    return snapshots / name if isinstance(snapshots, Path) else Url(f'{snapshots}/{name}')


def names(snapshots: Root) -> tuple[str, ...]:
    """Of all snapshots right below a folder or a prefix, sorted."""
    place = place_of(snapshots)
    found = sorted(place.tops())
    manifests = place.read_all([f'{name}/{MANIFEST}' for name in found])
    return tuple(name for name, one in zip(found, manifests, strict=True) if one is not None)


@contextmanager
def scratch(target: Root) -> Iterator[Path]:
    """A folder to make a snapshot in: beside the target, so that it can be renamed."""
    parent, prefix = None, 'coevo-snapshot-'
    if isinstance(target, Path):
        parent, prefix = target.absolute().parent, f'.{target.name}.new-'
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        yield Path(folder) / 'snapshot'


def put(made: Path, target: Root) -> bool:
    """False if the same snapshot is there already, Fatal if another one is."""
    if isinstance(target, Path):
        return _rename(made, target)
    files = {
        path.relative_to(made).as_posix(): path
        for path in sorted(made.rglob('*'))
        if path.is_file()
    }
    manifest = files.pop(MANIFEST).read_bytes()
    return _upload(files, manifest, place_of(target))


def _rename(made: Path, target: Path) -> bool:
    if (target / MANIFEST).is_file():
        if _differing(made, target):
            raise _other(str(target))
        return False
    try:
        made.rename(target.absolute())  # an empty folder gives way
    except OSError as error:
        if error.errno not in _TAKEN or not (target / MANIFEST).is_file():
            raise
        return _rename(made, target)  # another writer was quicker
    durable.sync(target.absolute().parent)
    return True


def _upload(files: Mapping[str, Path], manifest: bytes, place: Place) -> bool:
    if _is_there(place, manifest):
        return False
    with _alone(place) as hold:
        written = place.read(MANIFEST) is None
        if written:
            _fill(place, hold, files)
            written = place.exchange(MANIFEST, manifest, None) is not None
    return written or not _is_there(place, manifest)


def _fill(place: Place, hold: Hold, files: Mapping[str, Path]) -> None:
    """All but the manifest, so that they are ours and nobody else's when it is written."""
    _clear(place, hold, files)
    for name, path in files.items():
        hold.check()
        if place.exchange(name, path.read_bytes(), None) is None:
            raise Transient(f'{place.shown(name)} was written by another process meanwhile')
    hold.confirm()


@contextmanager
def _alone(place: Place) -> Iterator[Hold]:
    """Keep other writers out; where a snapshot is in the end, nobody can write any more."""
    busy = f'{place.shown()} is being released by another process: wait until it ends'
    with place.lock(_LEASE, busy) as hold:
        yield hold
    if place.read(MANIFEST) is not None:
        place.remove([_LEASE])


def _is_there(place: Place, manifest: bytes) -> bool:
    """The manifest has the checksums of all other files."""
    found = place.read(MANIFEST)
    if found is not None and found.data != manifest:
        raise _other(place.shown())
    return found is not None


def _clear(place: Place, hold: Hold, files: Mapping[str, Path]) -> None:
    """Remove what a writer that was killed left of a snapshot with other bytes."""
    there = [entry.name for entry in place.entries('')]
    _check_names(place, set(there) - set(files))
    left = [name for name in there if name in files]
    for name, found in zip(left, place.read_all(left), strict=True):
        if found is not None and found.data != files[name].read_bytes():
            hold.confirm()
            place.remove([name])


def _check_names(place: Place, foreign: set[str] | frozenset[str]) -> None:
    if any(not name.startswith(_LEASE) for name in foreign):
        raise Fatal(f'{place.shown()} is there and is no snapshot: name another place')


def _other(shown: str) -> Fatal:
    return Fatal(
        f'{shown} holds another snapshot, and snapshots do not change: name another '
        'folder, or compare them first (coevo query)'
    )


def _differing(made: Path, target: Path) -> list[Path]:
    """The files but `timings` that are not the same in both."""
    both = {
        path.relative_to(folder)
        for folder in (made, target)
        for path in folder.rglob('*')
        if path.is_file() and 'timings' not in path.parts
    }
    return sorted(name for name in both if _bytes(made / name) != _bytes(target / name))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
