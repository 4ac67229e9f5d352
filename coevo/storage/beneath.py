"""Paths of the host that contain text of a stranger: proven to lie beneath a root, and written without following links.

A name out of a repository, a snapshot or an answer of a server may be absolute, lead upwards, or lead through a
link. `join_beneath` is the only function that makes a path of such a name. It refuses what would leave the root, or
what no file system keeps. `SafePath` then walks from the root folder by folder and follows no link on the way, so
that a link which appears later leads nowhere, either (the idea of openat2(2), RESOLVE_BENEATH).

`infra/check_host_paths.py`, a part of `make lint`, finds writes that should take this type and do not.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from coevo.storage.durable import UNFINISHED, name_file_in_errors

_LONGEST_NAME = 255  # bytes, of every file system of Linux
# Deeper trees are not removed by `shutil.rmtree`, which calls itself for each folder.
_MOST_PARTS = 256
_LONGEST_PATH = 3000  # bytes below the root: the kernel takes 4096 with the root

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LEAVES = frozenset({errno.ELOOP, errno.ENOTDIR})


class PathFault(StrEnum):
    """Why a text cannot be a path beneath a root."""

    EMPTY = 'empty'
    NUL = 'nul'
    ABSOLUTE = 'absolute'
    UPWARDS = 'upwards'
    NAME_TOO_LONG = 'name_too_long'
    PATH_TOO_LONG = 'path_too_long'
    TOO_DEEP = 'too_deep'
    UNWRITABLE = 'unwritable'


class UnsafePath(ValueError):
    """A stranger's text that is no path beneath a root.

    fault  one word for a reason
    """

    def __init__(self, fault: PathFault, text: str) -> None:
        super().__init__(f'{text[:80]!r} cannot be a path here: {fault.value.replace("_", " ")}')
        self.fault = fault


@dataclass(frozen=True, slots=True)
class SafePath:
    """A path that lies beneath a root. Made by `join_beneath` alone.

    root   a folder of ours; links on the way to it are followed
    parts  names below it, none of them empty, `.` or `..`
    """

    root: Path
    parts: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The path, to be shown or read. Writing goes through the methods, which follow no link."""
        return self.root.joinpath(*self.parts)  # own name: proven by beneath

    def join_below(self, text: str) -> SafePath:
        """Return a path below this one. Raises: UnsafePath."""
        return join_beneath(self.root, *self.parts, text)

    def join_beside(self, name: str) -> SafePath:
        """Return a path in the same folder. Raises: UnsafePath."""
        return join_beneath(self.root, *self.parts[:-1], name)

    def replace_file(self, content: bytes, mode: int = 0o644) -> None:
        """Replace the file, whole or not at all, and make the folders that lead to it.

        Raises: UnsafePath where a link or a file stands in the way, OSError for a full disk.
        """
        temporary = f'.{secrets.token_hex(8)}{UNFINISHED}'
        with self._open_parent(make=True) as folder, name_file_in_errors(self.path):
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
                with os.fdopen(descriptor, 'wb') as file:
                    file.write(content)
                    os.fchmod(file.fileno(), mode)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, self.parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise

    def create_file(self, content: bytes, mode: int = 0o644) -> None:
        """Write a file that is not there yet, for a folder of ours that gets its name when it is whole.

        Raises: FileExistsError, UnsafePath where a link or a file stands in the way.
        """
        with self.open_new_file(mode) as file:
            file.write(content)

    @contextlib.contextmanager
    def open_new_file(self, mode: int = 0o644) -> Iterator[IO[bytes]]:
        """Give a file that is not there yet, to be written; errors are those of `create_file`."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._open_parent(make=True) as folder, name_file_in_errors(self.path):
            descriptor = os.open(self.parts[-1], flags, 0o600, dir_fd=folder)
            with os.fdopen(descriptor, 'wb') as file:
                os.fchmod(descriptor, mode)
                yield file

    def make_symlink(self, target: str) -> None:
        """Make a symbolic link, wherever it leads. Raises: FileExistsError, UnsafePath."""
        with self._open_parent(make=True) as folder:
            os.symlink(target, self.parts[-1], dir_fd=folder)

    def prepare_for_writing(self) -> Path:
        """Make the folders that lead to it and return the path, for a writer that takes one.

        Raises: UnsafePath where a link stands in the way.
        """
        with self._open_parent(make=True):
            pass
        if stat.S_ISLNK(self._read_mode()):
            raise UnsafePath(PathFault.UNWRITABLE, self.parts[-1])
        return self.path

    def make_folder(self, mode: int = 0o755) -> None:
        """Make the folder, and those that lead to it, where they are missing.

        Raises: UnsafePath where a link or a file stands in the way.
        """
        with self._open_parent(make=True) as folder:
            os.close(_open_folder(folder, self.parts[-1], mode))

    def move_here(self, source: Path) -> None:
        """Rename a file or folder of ours to this path, which must be free or a file.

        Raises: UnsafePath where a link stands in the way, OSError where another folder has the name.
        """
        with self._open_parent(make=True) as folder:
            os.rename(source, self.parts[-1], dst_dir_fd=folder)

    def add_hard_link(self, source: Path) -> None:
        """Give a file of ours this name, too (a hard link). Raises: FileExistsError, UnsafePath."""
        with self._open_parent(make=True) as folder:
            os.link(source, self.parts[-1], dst_dir_fd=folder, follow_symlinks=False)

    def remove(self) -> None:
        """Remove the file or the link itself, or the folder with all that it holds; nothing where it is not there."""
        with contextlib.suppress(FileNotFoundError), self._open_parent(make=False) as folder:
            state = os.stat(self.parts[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(state.st_mode):
                shutil.rmtree(self.parts[-1], dir_fd=folder)
            else:
                os.unlink(self.parts[-1], dir_fd=folder)

    def is_there(self) -> bool:
        """Whether anything is there, be it a link; nothing is behind a link."""
        return self._read_mode() != 0

    def is_folder(self) -> bool:
        """Whether a folder is there, and no link on the way."""
        return stat.S_ISDIR(self._read_mode())

    def is_file(self) -> bool:
        """Whether a regular file is there, and no link on the way."""
        return stat.S_ISREG(self._read_mode())

    def _read_mode(self) -> int:
        """Return the kind and the rights of what is there; 0 for nothing, or behind a link."""
        try:
            with self._open_parent(make=False) as folder:
                return os.stat(self.parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
        except (FileNotFoundError, UnsafePath):
            return 0

    @contextlib.contextmanager
    def _open_parent(self, *, make: bool) -> Iterator[int]:
        """Give a descriptor of the folder that holds the path."""
        if make:
            self.root.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in self.parts[:-1]:
                below = _open_folder(folder, name, 0o755 if make else None)
                os.close(folder)
                folder = below
            yield folder
        finally:
            os.close(folder)


def _open_folder(above: int, name: str, mode: int | None) -> int:
    """Return the descriptor of a folder that is no link; mode: make it where it is missing."""
    if mode is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, mode, dir_fd=above)
            os.chmod(name, mode, dir_fd=above)  # whatever our umask
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=above)
    except OSError as error:
        if error.errno in _LEAVES:
            raise UnsafePath(PathFault.UNWRITABLE, name) from None
        raise


def join_beneath(root: Path, *texts: str) -> SafePath:
    """Return the path of a stranger's texts, joined by slashes, beneath a root.

    Raises: UnsafePath for what leaves the root or what no file system keeps.
    """
    parts = tuple(_split_names('/'.join(texts)))
    return SafePath(root, parts)


def find_path_fault(text: str) -> PathFault | None:
    """Return why a text cannot be a path beneath any root; None where it can."""
    try:
        for _ in _split_names(text):
            pass
    except UnsafePath as error:
        return error.fault
    return None


def _split_names(text: str) -> Iterable[str]:
    """Return the names of a path. Raises: UnsafePath."""
    if '\0' in text:
        raise UnsafePath(PathFault.NUL, text)
    if text.startswith('/'):
        raise UnsafePath(PathFault.ABSOLUTE, text)
    names = [name for name in text.split('/') if name not in ('', '.')]
    if not names:
        raise UnsafePath(PathFault.EMPTY, text)
    if '..' in names:
        raise UnsafePath(PathFault.UPWARDS, text)
    try:
        sizes = [len(os.fsencode(name)) for name in names]
    except UnicodeEncodeError:
        raise UnsafePath(PathFault.UNWRITABLE, ascii(text)) from None
    if max(sizes) > _LONGEST_NAME:
        raise UnsafePath(PathFault.NAME_TOO_LONG, text)
    if sum(sizes) + len(sizes) > _LONGEST_PATH:
        raise UnsafePath(PathFault.PATH_TOO_LONG, text)
    if len(names) > _MOST_PARTS:
        raise UnsafePath(PathFault.TOO_DEEP, text)
    return names
