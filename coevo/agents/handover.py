"""Take over what an agent left of a start state's files, as a stream that is read and never unpacked."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from coevo.agents.difference import Ends, GitFile
from coevo.git.objects import LINK
from coevo.sandboxes.tar_stream import extract_content, iterate_members

# Of files that differ. A test file has a hundredth of it; more is no answer.
MOST_BYTES = 16 << 20
PLAIN, EXECUTABLE = '100644', '100755'


class HandoverTooLarge(Exception):
    """An agent wrote more into files of the project than anyone would read."""


def list_start_files(folder: Path) -> list[str]:
    """The files of a start state by path, as Git would list them; `.git` is left out."""
    paths = (os.fsencode(path.relative_to(folder).as_posix()) for path in _walk_files(folder))
    return sorted(name.decode('utf-8', 'surrogateescape') for name in paths)


def collect_changed_files(
    stream: IO[bytes], folder: Path, wanted: Iterable[str]
) -> dict[str, Ends]:
    """The wanted files that differ from the start; tarfile.TarError for what is no archive.

    stream  a tar archive of files by their path; what is not wanted in it is passed over
    folder  the start state, as it was written by us
    """
    missing = set(wanted)
    changed_files: dict[str, Ends] = {}
    size = 0
    for archive, member in iterate_members(stream):
        if member.name not in missing:
            continue
        start = load_start_file(folder, member.name)
        end = _extract_file(archive, member, max(MOST_BYTES, len(start.content) if start else 0))
        if end is None:  # a folder, a pipe or a device is no file of a project
            continue
        missing.discard(member.name)
        if start != end:
            size += len(end.content)
            changed_files[member.name] = start, end
        if size > MOST_BYTES:
            raise HandoverTooLarge
    return changed_files | {name: (load_start_file(folder, name), None) for name in missing}


def load_start_file(folder: Path, name: str) -> GitFile | None:
    """A file of the start state; None where it is absent."""
    path = folder / os.fsdecode(name.encode('utf-8', 'surrogateescape'))
    if path.is_symlink():
        return GitFile(mode=LINK, content=os.fsencode(path.readlink()))
    if not path.is_file():
        return None
    mode = EXECUTABLE if path.stat().st_mode & 0o100 else PLAIN
    return GitFile(mode=mode, content=path.read_bytes())


def _walk_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name != '.git':
                yield from _walk_files(path)
        else:
            yield path


def _extract_file(
    archive: tarfile.TarFile, member: tarfile.TarInfo, most_bytes: int
) -> GitFile | None:
    if member.issym():
        return GitFile(mode=LINK, content=member.linkname.encode('utf-8', 'surrogateescape'))
    if not member.isreg():
        return None
    if member.size > most_bytes:
        raise HandoverTooLarge
    mode = EXECUTABLE if member.mode & 0o100 else PLAIN
    return GitFile(mode=mode, content=extract_content(archive, member))
