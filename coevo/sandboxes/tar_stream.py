"""The members of a tar archive that untrusted code made, read as they come and never laid out."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import IO

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
