"""What readers find of a release beside the snapshot itself: the catalogue, and the page over all months."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coevo.model.listener import Say
from coevo.snapshots.catalogue import load_catalogue
from coevo.snapshots.local_copy import open_local_copy
from coevo.storage.place import Root
from packagers import cataloguing
from packagers.publishing import locate_snapshot
from packagers.site.folder import write_site


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """Where the catalogue lies, and the page; None where none was asked for."""

    catalogue: str
    site: Path | None


def announce_snapshots(snapshots: Root, site: Path | None, say: Say) -> Announcement:
    """Make both anew of all snapshots that are there; of several of one month the last by name counts."""
    catalogue_location = cataloguing.rebuild_catalogue(snapshots)
    if site is not None:
        names = {snapshot.month: snapshot.name for snapshot in load_catalogue(str(snapshots))}
        with ExitStack() as stack:
            folders = [
                stack.enter_context(open_local_copy(str(locate_snapshot(snapshots, name))))
                for _, name in sorted(names.items())
            ]
            write_site(folders, site, say)
    return Announcement(catalogue=catalogue_location, site=site)
