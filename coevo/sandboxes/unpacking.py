"""Write the plain files of an archive that untrusted code made, most of which are known already."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from coevo.model.errors import Transient
from coevo.storage.beneath import SafePath, UnsafePath, find_path_fault, join_beneath

MOST_BYTES = 2 << 30


def unpack(stream: IO[bytes], folder: Path, shared: Path) -> None:
    """Write plain files into a folder that is empty; members of other kinds, or with odd names, are passed over.

    A file that the shared folder has at the same path is linked to. No file is ever opened that is there already: of
    two members with one name the first counts.

    Raises: TarError for what is no archive, Transient for too large a one.
    """
    size = 0
    for archive, member in iterate_members(stream):
        if not member.isreg() or find_path_fault(member.name) is not None:
            continue
        size += member.size
        if size > MOST_BYTES:
            raise Transient(f'libraries take more than {MOST_BYTES >> 30} GiB')
        twin = join_beneath(shared, member.name)
        _write_or_link(join_beneath(folder, member.name), twin, extract_content(archive, member))


def _write_or_link(target: SafePath, twin: SafePath, content: bytes) -> None:
    try:
        if not (twin.is_file() and twin.path.read_bytes() == content and _try_link(target, twin)):
            target.create_file(content)
    except (FileExistsError, UnsafePath):  # a file where another one has its folder
        return


def _try_link(target: SafePath, twin: SafePath) -> bool:
    """Link a file; False where that cannot be: it is of another file system, or linked too often."""
    try:
        target.add_hard_link(twin.path)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


# The members of a tar archive that untrusted code made, read as they come and never laid out.

# Stands last in a stream: without it, what broke off would look whole.
END = '.coevo-end'


def iterate_members(stream: IO[bytes]) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Each with its archive, up to `END`; TarError for what is no archive, or has no end."""
    with tarfile.open(fileobj=stream, mode='r|', errors='surrogateescape') as archive:
        for member in archive:
            if member.name == END:
                return
            yield archive, member
    raise tarfile.ReadError('the stream broke off')


def extract_content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Of a regular file, before the next member is asked for."""
    member_file = archive.extractfile(member)
    assert member_file is not None, 'a regular file has content'
    return member_file.read()
