"""What readers find of a release beside the snapshot itself: the catalogue, and the page over all months."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coevo.model.listener import Say
from coevo.snapshots.catalogue import catalogue
from coevo.snapshots.local_copy import local
from coevo.storage.place import Root
from packagers import cataloguing
from packagers.publishing import below
from packagers.site.folder import write


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """Where the catalogue lies, and the page; None where none was asked for."""

    catalogue: str
    site: Path | None


def announce(snapshots: Root, site: Path | None, say: Say) -> Announcement:
    """Make both anew of all snapshots that are there; of several of one month the last by name counts."""
    place = cataloguing.rebuild(snapshots)
    if site is not None:
        names = {one.month: one.name for one in catalogue(str(snapshots))}
        with ExitStack() as stack:
            folders = [
                stack.enter_context(local(str(below(snapshots, name))))
                for _, name in sorted(names.items())
            ]
            write(folders, site, say)
    return Announcement(catalogue=place, site=site)
