"""Publish a snapshot completely or not at all, and never over another one.

A folder is renamed. In an object store, the manifest makes a snapshot visible: it is written last,
on condition that there is none. Until then a lease keeps other writers out. Leftovers of a killed
writer are replaced.
"""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coevo.model.errors import DamagedSnapshot, Fatal, Transient
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import CATALOGUE, build_catalogue_entry, encode_catalogue
from coevo.snapshots.code_free.hydration import ATTRIBUTION
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.local_copy import TIMINGS, open_local_copy
from coevo.snapshots.manifests import is_manifest, is_private, refuse_private
from coevo.snapshots.snapshot import MANIFEST
from coevo.snapshots.verification import verify_folder
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.place import HeldLock, Root, StoragePlace, Url
from coevo.storage.places import open_place

_LEASE = 'release.lock'

# The names at the top of a snapshot, and of a code-free edition.
_TOPS = {
    'data',
    ATTRIBUTION,
    *(f'{head}{name}' for head in ('', FULL) for name in ('README.md', 'croissant.json')),
}
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


def check_snapshot_target(target: Root) -> None:
    """Raise Fatal if the target exists and is neither empty nor a snapshot."""
    if not isinstance(target, Path):
        storage = open_place(target)
        if storage.read(MANIFEST) is None:
            _refuse_foreign_names(storage, storage.list_top_names() - _TOPS - {f'{FULL}{MANIFEST}'})
        return
    if not target.exists() or (target / MANIFEST).is_file():
        return
    if not target.is_dir() or any(target.iterdir()):
        raise Fatal(f'{target} is there and is no snapshot: name another folder')


def locate_snapshot(snapshots: Root, name: str) -> Root:
    """Return the place of the snapshot with that name, whether it exists or not."""
    return snapshots / name if isinstance(snapshots, Path) else Url(f'{snapshots}/{name}')


def list_snapshots(snapshots: Root) -> tuple[str, ...]:
    """Return the sorted names of all snapshots directly below a folder or a prefix."""
    storage = open_place(snapshots)
    top_names = sorted(storage.list_top_names())
    manifests = storage.load_files([f'{name}/{MANIFEST}' for name in top_names])
    return tuple(
        name for name, manifest in zip(top_names, manifests, strict=True) if manifest is not None
    )


@contextmanager
def make_scratch_folder(target: Root) -> Iterator[Path]:
    """Yield a folder in which to make a snapshot: beside the target, so that it can be renamed."""
    parent, prefix = None, 'coevo-snapshot-'
    if isinstance(target, Path):
        parent, prefix = target.absolute().parent, f'.{target.name}.new-'
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        yield Path(folder) / 'snapshot'


def publish_folder(made: Path, target: Root) -> bool:
    """Publish the folder of a snapshot at the target, and return True.

    Return False if the same snapshot is there already. Raises: Fatal if another one is.
    """
    if isinstance(target, Path):
        return _rename_into_place(made, target)
    files = {
        path.relative_to(made).as_posix(): path
        for path in sorted(made.rglob('*'))
        if path.is_file()
    }
    manifest = files.pop(MANIFEST).read_bytes()
    return _upload_snapshot(files, manifest, open_place(target))


def _rename_into_place(made: Path, target: Path) -> bool:
    if (target / MANIFEST).is_file():
        if _list_differing_files(made, target):
            raise _make_conflict_error(str(target))
        return False
    try:
        made.rename(target.absolute())  # replaces an empty folder
    except OSError as error:
        if error.errno not in _TAKEN or not (target / MANIFEST).is_file():
            raise
        return _rename_into_place(made, target)  # another writer was faster
    durable.sync_to_disk(target.absolute().parent)
    return True


def _upload_snapshot(files: Mapping[str, Path], manifest: bytes, place: StoragePlace) -> bool:
    if _is_published(place, manifest):
        return False
    with _lock_out_writers_or_raise(place) as hold:
        written = place.read(MANIFEST) is None
        if written:
            _upload_files(place, hold, files)
            written = place.write_if_unchanged(MANIFEST, manifest, None) is not None
    return written or not _is_published(place, manifest)


def _upload_files(place: StoragePlace, hold: HeldLock, files: Mapping[str, Path]) -> None:
    """Upload all files but the manifest, after removing what a killed writer left.

    So all files are this writer's own when the manifest is written. Raises: Transient if another
    process writes, too.
    """
    _remove_leftovers(place, hold, files)
    for name, path in files.items():
        hold.check_held()
        if place.write_if_unchanged(name, path.read_bytes(), None) is None:
            raise Transient(f'{place.describe(name)} was written by another process meanwhile')
    hold.confirm_held()


@contextmanager
def _lock_out_writers_or_raise(place: StoragePlace) -> Iterator[HeldLock]:
    """Hold the lease that keeps other writers out, and remove it once a snapshot exists.

    Raises: Fatal if another process holds it.
    """
    busy = f'{place.describe()} is being released by another process: wait until it ends'
    with place.lock(_LEASE, busy) as hold:
        yield hold
    if place.read(MANIFEST) is not None:
        place.remove_files([_LEASE])


def _is_published(place: StoragePlace, manifest: bytes) -> bool:
    """Return whether the snapshot with this manifest is published already.

    The manifest has the checksums of all other files, so comparing it is enough. Raises: Fatal if
    another snapshot is there.
    """
    existing = place.read(MANIFEST)
    if existing is not None and existing.data != manifest:
        raise _make_conflict_error(place.describe())
    return existing is not None


def _remove_leftovers(place: StoragePlace, hold: HeldLock, files: Mapping[str, Path]) -> None:
    """Remove files with other bytes that a killed writer left.

    Files with the same bytes stay. Raises: Fatal if there are files of another kind.
    """
    there = [entry.name for entry in place.list_files('')]
    _refuse_foreign_names(place, set(there) - set(files))
    left = [name for name in there if name in files]
    for name, existing in zip(left, place.load_files(left), strict=True):
        if existing is not None and existing.data != files[name].read_bytes():
            hold.confirm_held()
            place.remove_files([name])


def _refuse_foreign_names(place: StoragePlace, foreign: set[str] | frozenset[str]) -> None:
    if any(not name.startswith(_LEASE) for name in foreign):
        raise Fatal(f'{place.describe()} is there and is no snapshot: name another place')


def _make_conflict_error(shown: str) -> Fatal:
    return Fatal(
        f'{shown} holds another snapshot, and snapshots do not change: name another '
        'folder, or compare them first (coevo query)'
    )


def _list_differing_files(made: Path, target: Path) -> list[Path]:
    """Return the files, except `timings`, that differ between two folders."""
    both = {
        path.relative_to(folder)
        for folder in (made, target)
        for path in folder.rglob('*')
        if path.is_file() and 'timings' not in path.parts
    }
    return sorted(name for name in both if _read_bytes(made / name) != _read_bytes(target / name))


def _read_bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


# Copy a snapshot from one place to another.
#
# Only if it verifies, with the same bytes, and completely or not at all.
#
# The folder or bucket has the layout of a data set on Hugging Face: its README names the files of
# each table and of each track.


def publish_copy(place: Path | str, target: Root) -> bool:
    """Publish a copy of a snapshot and return True; return False if it exists already.

    Raises: DamagedSnapshot if the snapshot does not verify; Fatal if it is private, or another one
    is at the target.
    """
    refuse_private(snapshot.load_manifest(place), place, 'published')
    check_snapshot_target(target)
    with open_local_copy(place) as folder, make_scratch_folder(target) as scratch_folder:
        findings = verify_folder(folder)
        if findings:
            first = findings[0]
            raise DamagedSnapshot(
                f'{place} is not good ({first.table}: {first.rule}: {first.row}) and is not '
                f'published: `coevo verify {place}` says what else is off'
            )
        _copy_snapshot(folder, scratch_folder)
        return publish_folder(scratch_folder, target)


def _copy_snapshot(folder: Path, made: Path) -> None:
    """Copy the files that a snapshot's manifest names, the manifest and the timings.

    Other files beside them are left out.
    """
    for name in (MANIFEST, TIMINGS, *snapshot.load_manifest(folder)['files']):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, join_beneath(made, name).make_parents_and_get_path())
    durable.sync_tree_to_disk(made)


_TRIES = 20


def find_catalogue_root(snapshot: Root) -> Root | None:
    """Return the place of a snapshot's catalogue: the folder or prefix above the snapshot.

    None for a snapshot at the top of a bucket.
    """
    if isinstance(snapshot, Path):
        return snapshot.absolute().parent
    above = snapshot.rpartition('/')[0]
    return None if above == 's3:/' else Url(above)


def rebuild_catalogue_and_get_address(snapshots: Root) -> str:
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


def list_private_releases(snapshots: Root) -> tuple[str, ...]:
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
    names = list_snapshots(snapshots)
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
