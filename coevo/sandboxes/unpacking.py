"""Write the plain files of an archive that untrusted code made, most of which are known already."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from coevo.model.errors import Transient
from coevo.sandboxes.tar_stream import content
from coevo.sandboxes.tar_stream import members
from coevo.storage.beneath import Beneath
from coevo.storage.beneath import UnsafePath
from coevo.storage.beneath import beneath
from coevo.storage.beneath import path_fault

MOST_BYTES = 2 << 30


def unpack(stream: IO[bytes], folder: Path, shared: Path) -> None:
    """Write plain files into a folder that is empty; members of other kinds, or with odd names, are passed over.

    A file that the shared folder has at the same path is linked to. No file is ever opened that is there already: of
    two members with one name the first counts.

    Raises: TarError for what is no archive, Transient for too large a one.
    """
    size = 0
    for archive, member in members(stream):
        if not member.isreg() or path_fault(member.name) is not None:
            continue
        size += member.size
        if size > MOST_BYTES:
            raise Transient(f'libraries take more than {MOST_BYTES >> 30} GiB')
        twin = beneath(shared, member.name)
        _place(beneath(folder, member.name), twin, content(archive, member))


def _place(target: Beneath, twin: Beneath, content: bytes) -> None:
    try:
        if not (twin.is_file() and twin.path.read_bytes() == content and _is_linked(target, twin)):
            target.create(content)
    except (FileExistsError, UnsafePath):  # a file where another one has its folder
        return


def _is_linked(target: Beneath, twin: Beneath) -> bool:
    """Link a file; False where that cannot be: it is of another file system, or linked too often."""
    try:
        target.link_to(twin.path)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True
