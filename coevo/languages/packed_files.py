"""Packs files of a tree into one archive.

Entries are sorted and have the same owner and date, so that the archive does not reveal which files
were edited.
"""

from __future__ import annotations

import io
import os
import secrets
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from coevo.git.objects import LINK

# 2000-01-01, before any code that is mined: no file may be younger than the clock of a run.
SECONDS = 946_684_800

Files = Mapping[str, tuple[str, bytes]]
"""Path -> Git's mode, and the content or, for a link, the target."""


def pack_files(files: Files, folder: Path) -> Path:
    """Write files into a new tar archive in a folder, and return its path.

    The name of the archive is random, and sandboxes can read it. A file is left out if another file
    has the path of one of its folders.
    """
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    archive_path = folder / secrets.token_hex(16)
    with tarfile.open(
        archive_path, 'w', format=tarfile.GNU_FORMAT, errors='surrogateescape'
    ) as archive:
        added_folders: set[str] = set()
        for path, (mode, content) in sorted(files.items()):
            if any(parent in files for parent in _list_parent_folders(path)):
                continue  # the other revision has a folder at this path
            for parent in _list_parent_folders(path):
                if parent not in added_folders:
                    added_folders.add(parent)
                    _add_entry(archive, parent, tarfile.DIRTYPE, 0o755)
            if mode == LINK:
                _add_entry(archive, path, tarfile.SYMTYPE, 0o777, content)
            else:
                rights = 0o755 if int(mode, 8) & 0o100 else 0o644
                _add_entry(archive, path, tarfile.REGTYPE, rights, content)
    archive_path.chmod(0o644)
    return archive_path


def _list_parent_folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the topmost first."""
    parts = path.split('/')
    for end in range(1, len(parts)):
        yield '/'.join(parts[:end])


def _add_entry(
    archive: tarfile.TarFile, name: str, kind: bytes, rights: int, content: bytes = b''
) -> None:
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.type = SECONDS, rights, kind
    if kind == tarfile.SYMTYPE:
        info.linkname = os.fsdecode(content)
        archive.addfile(info)
    else:
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
