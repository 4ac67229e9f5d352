"""Host paths that contain third-party text: beneath a root, and written without following links.

A name from a repository, a snapshot or a server's answer may be absolute, lead upwards, or lead
through a link. `join_beneath` is the only function that makes a path from such a name. It rejects
names that would leave the root or that no file system accepts. `SafePath` then opens folder by
folder from the root and follows no link, so that a link that is created later cannot redirect it
either (the idea of openat2(2), RESOLVE_BENEATH).

`infra/check_host_paths.py`, a part of `make lint`, finds writes that should use this type and do
not.
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

_LONGEST_NAME = 255  # bytes; the limit of Linux file systems
# `shutil.rmtree` calls itself for each folder level, so it cannot remove much deeper trees.
_MOST_PARTS = 256
_LONGEST_PATH = 3000  # bytes below the root: the kernel accepts 4096 including the root

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LEAVES = frozenset({errno.ELOOP, errno.ENOTDIR})


class PathFault(StrEnum):
    """A reason why a text cannot be a path beneath a root."""

    EMPTY = 'empty'
    NUL = 'nul'
    ABSOLUTE = 'absolute'
    UPWARDS = 'upwards'
    NAME_TOO_LONG = 'name_too_long'
    PATH_TOO_LONG = 'path_too_long'
    TOO_DEEP = 'too_deep'
    UNWRITABLE = 'unwritable'


class UnsafePath(ValueError):
    """A third-party text that is not a path beneath a root.

    fault  the reason
    """

    def __init__(self, fault: PathFault, text: str) -> None:
        super().__init__(f'{text[:80]!r} cannot be a path here: {fault.value.replace("_", " ")}')
        self.fault = fault


@dataclass(frozen=True, slots=True)
class SafePath:
    """A path that lies beneath a root. Only `join_beneath` makes it.

    root   a trusted folder; links on the way to it are followed
    parts  names below it, none of them empty, `.` or `..`
    """

    root: Path
    parts: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The path for display or reading. Writing has to use the methods, which follow no link."""
        return self.root.joinpath(*self.parts)  # own name: proven by beneath

    def join_below(self, text: str) -> SafePath:
        """Return the path of a third-party name below this one.

        Raises: UnsafePath if the name would lead elsewhere, or no file system accepts it.
        """
        return join_beneath(self.root, *self.parts, text)

    def join_beside(self, name: str) -> SafePath:
        """Return the path of a third-party name in the folder of this one.

        Raises: UnsafePath if the name would lead out of the root, or no file system accepts it.
        """
        return join_beneath(self.root, *self.parts[:-1], name)

    def replace_file(self, content: bytes, mode: int = 0o644) -> None:
        """Replace the file atomically, and make its parent folders.

        Raises: UnsafePath if a link or file stands in the place of a parent folder; OSError for
        example for a full disk.
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
        """Write a file that does not exist yet; its parent folders are made.

        It is not atomic: use it in folders that are renamed when they are complete.

        Raises: FileExistsError; UnsafePath if a link or file stands in the place of a parent
        folder.
        """
        with self.open_new_file(mode) as file:
            file.write(content)

    @contextlib.contextmanager
    def open_new_file(self, mode: int = 0o644) -> Iterator[IO[bytes]]:
        """Open a file that does not exist yet for writing; see `create_file` for the errors."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._open_parent(make=True) as folder, name_file_in_errors(self.path):
            descriptor = os.open(self.parts[-1], flags, 0o600, dir_fd=folder)
            with os.fdopen(descriptor, 'wb') as file:
                os.fchmod(descriptor, mode)
                yield file

    def make_symlink(self, target: str) -> None:
        """Create a symbolic link with any target.

        Raises: FileExistsError, UnsafePath.
        """
        with self._open_parent(make=True) as folder:
            os.symlink(target, self.parts[-1], dir_fd=folder)

    def make_parents_and_get_path(self) -> Path:
        """Make the parent folders and return the path, for a writer that needs a plain path.

        Raises: UnsafePath if the path or a parent is a link.
        """
        with self._open_parent(make=True):
            pass
        if stat.S_ISLNK(self._read_mode()):
            raise UnsafePath(PathFault.UNWRITABLE, self.parts[-1])
        return self.path

    def make_folder(self, mode: int = 0o755) -> None:
        """Make the folder and its parents, as far as they are missing.

        Raises: UnsafePath if a link or file stands in the way.
        """
        with self._open_parent(make=True) as folder:
            os.close(_open_folder(folder, self.parts[-1], mode))

    def move_here(self, source: Path) -> None:
        """Rename a trusted file or folder to this path, which must be free or a file.

        Raises: UnsafePath if a parent is a link; OSError if another folder has the name.
        """
        with self._open_parent(make=True) as folder:
            os.rename(source, self.parts[-1], dst_dir_fd=folder)

    def add_hard_link(self, source: Path) -> None:
        """Make this path a hard link to a trusted file.

        Raises: FileExistsError, UnsafePath.
        """
        with self._open_parent(make=True) as folder:
            os.link(source, self.parts[-1], dst_dir_fd=folder, follow_symlinks=False)

    def remove(self) -> None:
        """Remove the file, the link itself, or the folder with its contents, if it exists."""
        with contextlib.suppress(FileNotFoundError), self._open_parent(make=False) as folder:
            state = os.stat(self.parts[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(state.st_mode):
                shutil.rmtree(self.parts[-1], dir_fd=folder)
            else:
                os.unlink(self.parts[-1], dir_fd=folder)

    def is_there(self) -> bool:
        """Return whether the path exists, be it as a link; False if a parent is a link."""
        return self._read_mode() != 0

    def is_folder(self) -> bool:
        """Return whether the path is a folder and no parent is a link."""
        return stat.S_ISDIR(self._read_mode())

    def is_file(self) -> bool:
        """Return whether the path is a regular file and no parent is a link."""
        return stat.S_ISREG(self._read_mode())

    def _read_mode(self) -> int:
        """Return type and permissions of the path itself; 0 if missing or if a parent is a link."""
        try:
            with self._open_parent(make=False) as folder:
                return os.stat(self.parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
        except (FileNotFoundError, UnsafePath):
            return 0

    @contextlib.contextmanager
    def _open_parent(self, *, make: bool) -> Iterator[int]:
        """Provide a descriptor of the parent folder; no link below the root is followed.

        make  whether to make missing folders, the root included

        Raises: UnsafePath if a link or file stands in the place of a folder.
        """
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
    """Return the descriptor of a folder that is not a link; with a mode, make a missing one."""
    if mode is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, mode, dir_fd=above)
            os.chmod(name, mode, dir_fd=above)  # independent of the umask
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=above)
    except OSError as error:
        if error.errno in _LEAVES:
            raise UnsafePath(PathFault.UNWRITABLE, name) from None
        raise


def join_beneath(root: Path, *texts: str) -> SafePath:
    """Return the path beneath a root for third-party texts, joined by slashes.

    Raises: UnsafePath if it would leave the root, or if no file system would accept it.
    """
    parts = tuple(_split_names('/'.join(texts)))
    return SafePath(root, parts)


def find_path_fault(text: str) -> PathFault | None:
    """Return why a text cannot be a path beneath any root; None if it can."""
    try:
        for _ in _split_names(text):
            pass
    except UnsafePath as error:
        return error.fault
    return None


def _split_names(text: str) -> Iterable[str]:
    """Return the names that a third-party path consists of, without empty ones and `.`.

    Raises: UnsafePath if the path is absolute, leads upwards, or no file system accepts it.
    """
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
