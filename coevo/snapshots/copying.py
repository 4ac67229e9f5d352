"""Copy a snapshot from elsewhere into a folder, whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots.catalogue import find_default_place, resolve_location
from coevo.snapshots.local_copy import open_local_copy
from coevo.snapshots.locations import SnapshotFolder
from coevo.snapshots.manifests import has_withheld_texts, load_manifest_at
from coevo.snapshots.verification import verify_folder
from coevo.storage.beneath import join_beneath
from coevo.storage.durable import build_new_folder

# The folder beside an edition that gets the texts that it omits.
WHOLE = 'whole'


def choose_download_folder(place: Path | str) -> Path:
    """Return the folder that `coevo get` writes a snapshot into unless the user names one.

    For an edition in a local folder it is `whole`, or MONTH-whole, beside the edition; if the
    edition's own name ends with `whole`, it is that folder. For all others it is MONTH in the usual
    place of snapshots.

    Raises: Fatal if the usual place of snapshots is a URL.
    """
    location = resolve_location(place)
    manifest = load_manifest_at(location)
    if isinstance(location, SnapshotFolder) and has_withheld_texts(manifest):
        path = location.path.absolute()
        if path.name.endswith(WHOLE):
            return path
        beside = f'{path.name}-{WHOLE}' if path.name == manifest['month'] else WHOLE
        return path.with_name(beside)  # own name: a month's form
    root = find_default_place()
    if '://' in root:
        raise Fatal('$COEVO_SNAPSHOTS is a URL; say where the snapshot goes with --out DIR')
    return join_beneath(Path(root), str(manifest['month'])).path


def copy_and_verify_snapshot(place: Path | str, out: Path) -> None:
    """Copy a snapshot into a new folder, and check it.

    Raises: Fatal if the folder exists; DamagedSnapshot if the snapshot is not good.
    """
    if out.exists() or out.is_symlink():
        raise Fatal(f'{out} is there already; name a folder that is not')
    with build_new_folder(out) as copy:
        with open_local_copy(place) as folder:
            shutil.copytree(folder, copy, dirs_exist_ok=True)
        for finding in verify_folder(copy):
            raise DamagedSnapshot(
                f'{place} is not good ({finding.table}: {finding.rule}): get it again'
            )
