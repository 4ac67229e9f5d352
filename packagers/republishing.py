"""Copy a snapshot from one place to another.

Only if it verifies, with the same bytes, and completely or not at all.

The folder or bucket has the layout of a data set on Hugging Face: its README names the files of
each table and of each track.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from coevo.model.errors import DamagedSnapshot
from coevo.snapshots import snapshot
from coevo.snapshots.local_copy import TIMINGS, open_local_copy
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import refuse_private
from coevo.snapshots.verification import verify_folder
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.place import Root
from packagers import publishing


def publish_copy(place: Path | str, target: Root) -> bool:
    """Publish a copy of a snapshot and return True; return False if it exists already.

    Raises: DamagedSnapshot if the snapshot does not verify; Fatal if it is private, or another one
    is at the target.
    """
    publishing.check_snapshot_target(target)
    with open_local_copy(place) as folder, publishing.make_scratch_folder(target) as scratch_folder:
        refuse_private(snapshot.load_manifest(folder), place, 'published')
        findings = verify_folder(folder)
        if findings:
            first = findings[0]
            raise DamagedSnapshot(
                f'{place} is not good ({first.table}: {first.rule}: {first.row}) and is not '
                f'published: `coevo verify {place}` says what else is off'
            )
        _copy_snapshot(folder, scratch_folder)
        return publishing.publish_folder(scratch_folder, target)


def _copy_snapshot(folder: Path, made: Path) -> None:
    """Copy the files that a snapshot's manifest names, the manifest and the timings.

    Other files beside them are left out.
    """
    for name in (MANIFEST, TIMINGS, *snapshot.load_manifest(folder)['files']):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, join_beneath(made, name).prepare_for_writing())
    durable.sync_tree_to_disk(made)
