"""Write installed packages from the archive that a sandbox made of them.

Equal files of several environments are hard links to one file of the tool cache, which is found by
its content. So a hundred environments with the same pytest store it once.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from coevo.sandboxes.unpacking import iterate_members
from coevo.storage.beneath import SafePath, UnsafePath, join_beneath
from coevo.storage.durable import UNFINISHED

MOST_BYTES = 8 << 30
MOST_FILES = 250_000
_BLOCK = 1 << 20
_TRIES = 20
_IN_MEMORY_BYTES = 8 << 20

# The date of all installed files, in seconds since 1970. Byte code holds the date of its source,
# and equal files have to be identical.
DATE = 946684800


class SiteFault(ValueError):
    """Raised for packages that cannot be stored: too large, or with invalid file names."""


def unpack_packages(
    stream: IO[bytes], folder: Path, shared: Path, names: re.Pattern[str] | None = None
) -> None:
    """Write the regular files and folders of an archive into a folder; keep existing files.

    Each file is a hard link to a file with the same content in `shared`. Links and special files
    are left out: uv makes none.

    names  the members to write, by their whole names; None for all

    Raises:
        SiteFault: the packages are too large or have invalid file names
        TarError: the archive is damaged
    """
    size = count = 0
    for archive, member in iterate_members(stream):
        if not (member.isreg() or member.isdir()) or member.name == '.':
            continue
        if names is not None and not names.fullmatch(member.name):
            continue
        size, count = size + member.size, count + 1
        if size > MOST_BYTES or count > MOST_FILES:
            raise SiteFault(f'packages take more than {MOST_BYTES >> 30} GiB or {MOST_FILES} files')
        try:
            path = join_beneath(folder, member.name)
            if member.isdir():
                path.make_folder()
            else:
                _link_or_copy(path, _store_member(archive, member, shared))
        except UnsafePath as error:
            raise SiteFault(f'a package has a file whose name is not kept: {error}') from error


def _link_or_copy(path: SafePath, kept: Path) -> None:
    """Place a stored file at a path, as a hard link if possible. An existing file is kept."""
    for _ in range(_TRIES):
        # Another process may replace the stored file by an equal one at this moment.
        with suppress(FileNotFoundError):
            _link_once(path, kept)
            return
    path.create_file(kept.read_bytes(), kept.stat().st_mode & 0o777)


def _link_once(path: SafePath, kept: Path) -> None:
    try:
        path.add_hard_link(kept)
    except FileExistsError:
        return
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.EXDEV:  # the folder is on another file system
            path.replace_file(kept.read_bytes(), kept.stat().st_mode & 0o777)
            return
        if error.errno != errno.EMLINK:
            raise
        with kept.open('rb') as content:  # the limit of links is reached: a copy takes over
            _write_file(kept, content, kept.stat().st_mode & 0o777)
        path.add_hard_link(kept)


def _store_member(archive: tarfile.TarFile, member: tarfile.TarInfo, shared: Path) -> Path:
    """Store a member's content in `shared`, unless it is there, and return the path of the file.

    A large member is not held in memory.
    """
    content = archive.extractfile(member)
    assert content is not None, 'a regular file has content'
    rights = 0o755 if member.mode & 0o111 else 0o644
    if member.size > _IN_MEMORY_BYTES:
        return _store_large_member(content, shared, rights)
    text = content.read()
    path = _get_shared_path(shared, hashlib.sha256(text).hexdigest(), rights)
    if not _is_complete(path, len(text)):
        _write_file(path, io.BytesIO(text), rights)
    return path


def _store_large_member(content: IO[bytes], shared: Path, rights: int) -> Path:
    shared.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=shared) as new:
        shutil.copyfileobj(content, new, _BLOCK)
        size = new.tell()
        new.seek(0)
        path = _get_shared_path(shared, hashlib.file_digest(new, 'sha256').hexdigest(), rights)
        if not _is_complete(path, size):
            new.seek(0)
            _write_file(path, new, rights)
    return path


def _get_shared_path(shared: Path, digest: str, rights: int) -> Path:
    return shared / digest[:2] / f'{digest}-{rights:o}'  # own name: a digest and rights


def _is_complete(place: Path, size: int) -> bool:
    """Return whether a file exists with its full size: a power failure may have truncated it."""
    try:
        return place.stat().st_size == size
    except FileNotFoundError:
        return False


def _write_file(place: Path, content: IO[bytes], rights: int) -> None:
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=UNFINISHED)
    try:
        with os.fdopen(descriptor, 'wb') as new:
            shutil.copyfileobj(content, new, _BLOCK)
            os.fchmod(new.fileno(), rights)
        os.utime(name, (DATE, DATE))
        Path(name).replace(place)  # own name: mkstemp's
    except BaseException:
        Path(name).unlink(missing_ok=True)  # own name: mkstemp's
        raise
