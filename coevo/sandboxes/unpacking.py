"""Write the plain files of an archive that untrusted code made, most of which are known already."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from pathlib import PurePosixPath
from typing import IO

from coevo.model.errors import Transient
from coevo.sandboxes.tar_stream import content
from coevo.sandboxes.tar_stream import members

MOST_BYTES = 2 << 30
_LONGEST_NAME = 255


def unpack(stream: IO[bytes], folder: Path, shared: Path) -> None:
    """Into a folder that is empty; TarError for what is no archive, Transient for too large a one.

    A file that the shared folder has at the same path is linked to. So no file is ever opened that
    is there already: of two members with one name the first one counts.
    """
    size = 0
    for archive, member in members(stream):
        path = PurePosixPath(member.name)
        if not member.isreg() or not _is_clean(path):
            continue
        size += member.size
        if size > MOST_BYTES:
            raise Transient(f'libraries take more than {MOST_BYTES >> 30} GiB')
        _place(folder / path, shared / path, content(archive, member))


def _is_clean(path: PurePosixPath) -> bool:
    if path.is_absolute() or '..' in path.parts or not path.parts or '\0' in str(path):
        return False
    return all(len(os.fsencode(part)) <= _LONGEST_NAME for part in path.parts)


def _place(target: Path, twin: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if twin.is_file() and not twin.is_symlink() and twin.read_bytes() == content:
            _link(target, twin)
            return
        with target.open('xb') as new:
            new.write(content)
    except (FileExistsError, NotADirectoryError):  # a file where another one has its folder
        return


def _link(target: Path, twin: Path) -> None:
    try:
        target.hardlink_to(twin)
    except FileExistsError:
        raise
    except OSError:  # of another file system, or linked too often
        shutil.copyfile(twin, target)
