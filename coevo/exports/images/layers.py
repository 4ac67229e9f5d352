"""Layers of images as tar archives, where equal files give equal bytes."""

from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Byte code names the time of its source, so this is also the time of all packages that coevo
# installs for Python.
SECONDS = 946684800
"""The time of all files of an image, in seconds since 1970."""

_BYTE_CODE = '.pyc'
_BYTE_CODE_HEAD = struct.Struct('<4xII')


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEntry:
    """An entry of a layer; a folder if it has no source, content or target.

    source   a file of this machine
    content  the bytes of a file
    target   where a symbolic link leads
    mode     of a file or folder
    """

    source: Path | None = None
    content: bytes | None = None
    target: str | None = None
    mode: int = 0o755


Entries = Mapping[str, LayerEntry]
"""The entries of a layer, by their paths in the image, without a slash at the start."""


def write_layer(entries: Entries, stream: IO[bytes]) -> None:
    """Write entries as a tar archive, with the folders above them."""
    with open_layer_for_writing(stream) as tar:
        for path in sorted({*entries, *_list_parents(entries)}, key=os.fsencode):
            _add_entry(tar, path, entries.get(path, LayerEntry()))


def open_layer_for_writing(stream: IO[bytes]) -> tarfile.TarFile:
    """Return an archive to write the entries of a layer to."""
    return tarfile.open(
        fileobj=stream,
        mode='w|',
        format=tarfile.GNU_FORMAT,
        encoding='utf-8',
        errors='surrogateescape',
    )


def _list_parents(entries: Iterable[str]) -> Iterator[str]:
    for path in entries:
        while '/' in path:
            path = path.rpartition('/')[0]
            yield path


def _add_entry(tar: tarfile.TarFile, path: str, entry: LayerEntry) -> None:
    member = tarfile.TarInfo(path)
    member.mtime = SECONDS
    member.mode = entry.mode
    if entry.target is not None:
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, entry.target, 0o777
        tar.addfile(member)
    elif entry.content is not None:
        member.size = len(entry.content)
        tar.addfile(member, io.BytesIO(entry.content))
    elif entry.source is not None:
        with entry.source.open('rb') as file:
            member.size = os.fstat(file.fileno()).st_size
            tar.addfile(member, file)
    else:
        member.type = tarfile.DIRTYPE
        tar.addfile(member)


def list_folder(
    folder: Path, place: str, *, follows: bool = False
) -> Iterator[tuple[str, LayerEntry]]:
    """Yield the entries of a folder of this machine, by their paths in an image.

    Byte code is left out if it was made from a source of another time than that of the image. Files
    that are no regular files, folders or links are left out, too.

    place    the path of the folder in the image, without a slash at the start
    follows  whether what links lead to beyond the folder is put into their places, so that the
             image has it. Only for folders that no untrusted code wrote
    """
    root = folder.resolve()
    yield place, LayerEntry()
    yield from _list_below(root, place, root if follows else None)


def _list_below(folder: Path, place: str, root: Path | None) -> Iterator[tuple[str, LayerEntry]]:
    for child in sorted(folder.iterdir()):
        path = f'{place}/{child.name}'
        if child.is_symlink() and not _leads_out(child, root):
            yield path, LayerEntry(target=os.fspath(child.readlink()))
        elif child.is_dir():
            yield path, LayerEntry()
            yield from _list_below(child, path, root)
        elif child.is_file() and not is_stale_byte_code(child):
            yield path, LayerEntry(source=child, mode=normalise_mode(child.stat().st_mode))


def _leads_out(link: Path, root: Path | None) -> bool:
    """Return whether a link leads to something outside of the folder `root`; no if that is None."""
    return root is not None and link.exists() and not link.resolve().is_relative_to(root)


def normalise_mode(mode: int) -> int:
    """Return the mode of a file without what depends on a machine's umask."""
    return 0o755 if mode & stat.S_IXUSR else 0o644


def is_stale_byte_code(path: Path) -> bool:
    """Return whether a file is byte code that names another time of its source than the image's."""
    if not path.name.endswith(_BYTE_CODE):
        return False
    with path.open('rb') as file:
        head = file.read(_BYTE_CODE_HEAD.size)
    if len(head) < _BYTE_CODE_HEAD.size:
        return True
    flags, seconds = _BYTE_CODE_HEAD.unpack(head)
    return not flags and seconds != SECONDS
