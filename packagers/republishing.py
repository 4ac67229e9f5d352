"""A snapshot from one place to another: only a good one, with the same bytes, whole or not at all.

The folder or bucket has the layout of a data set of Hugging Face: its README names the files of each
table and of the paper's two tracks.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from coevo.model.errors import Damaged
from coevo.snapshots import snapshot
from coevo.snapshots.local_copy import TIMINGS
from coevo.snapshots.local_copy import local
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.verification import check
from coevo.storage import durable
from coevo.storage.beneath import beneath
from coevo.storage.place import Root
from packagers import publishing


def publish(place: Path | str, target: Root) -> bool:
    """False if it is there already. Damaged if it is not good, Fatal if another one is there."""
    publishing.check(target)
    with local(place) as folder, publishing.scratch(target) as made:
        findings = check(folder)
        if findings:
            first = findings[0]
            raise Damaged(
                f'{place} is not good ({first.table}: {first.rule}: {first.row}) and is not '
                f'published: `coevo verify {place}` says what else is off'
            )
        _copy(folder, made)
        return publishing.put(made, target)


def _copy(folder: Path, made: Path) -> None:
    """What belongs to a snapshot, and nothing else that lies beside it."""
    for name in (MANIFEST, TIMINGS, *snapshot.manifest(folder)['files']):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, beneath(made, name).prepare())
    for path in (*sorted(made.rglob('*'), reverse=True), made):
        durable.sync(path)
