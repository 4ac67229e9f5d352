"""Unpack the regular files of an archive that untrusted code made, most of them known already."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from coevo.model.errors import Transient
from coevo.storage.beneath import SafePath, UnsafePath, find_path_fault, join_beneath

MOST_BYTES = 2 << 30


def unpack(stream: IO[bytes], folder: Path, shared: Path) -> None:
    """Write the regular files of an archive into an empty folder.

    Other kinds of members and members with unsafe names are skipped. If `shared` has the same
    content at the same path, the file is hard-linked to it. Existing files are never opened: of two
    members with one name the first counts.

    Raises: TarError for a broken or incomplete archive, Transient for more than 2 GiB.
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
    """Make `target` a hard link to `twin` if that has this content, else write the content.

    An existing file stays as it is; so does a file in place of its folder.
    """
    try:
        if not (twin.is_file() and twin.path.read_bytes() == content and _try_link(target, twin)):
            target.create_file(content)
    except (FileExistsError, UnsafePath):  # an earlier member, or a file in place of its folder
        return


def _try_link(target: SafePath, twin: SafePath) -> bool:
    """Make `target` a hard link to `twin`, and return True.

    False where the system refuses: another file system, or too many links. Raises: FileExistsError
    if `target` exists.
    """
    try:
        target.add_hard_link(twin.path)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


# The name of the last member of a complete stream. Without it, a stream that broke off at the end
# of a member would look complete. Members are read one by one and never written as they are.
END = '.coevo-end'


def iterate_members(stream: IO[bytes]) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield each member with its archive, up to the member `END`.

    Raises: TarError for what is not an archive, or has no `END`.
    """
    with tarfile.open(fileobj=stream, mode='r|', errors='surrogateescape') as archive:
        for member in archive:
            if member.name == END:
                return
            yield archive, member
    raise tarfile.ReadError('the stream broke off')


def extract_content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return the content of a regular file; call it before the next member is read."""
    member_file = archive.extractfile(member)
    assert member_file is not None, 'a regular file has content'
    return member_file.read()
