"""Exclusive use of a folder that a run builds from scratch.

A second run gets an error instead of destroying files.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coevo.model.errors import Fatal

NAME = '.lock'


@contextmanager
def lock_for_sole_use_or_refuse(folder: Path) -> Iterator[None]:
    """Hold a folder exclusively until the block or this process ends.

    The lock is on FOLDER/.lock. Its holder may remove it as the last file of the folder. A process
    that had already opened the removed file notices this, and locks a new one.

    Raises: Fatal if another process holds the folder.
    """
    descriptor = _lock_file_or_refuse(folder)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f'{os.getpid()}\n'.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _lock_file_or_refuse(folder: Path) -> int:
    """Return the descriptor of the folder's lock file, locked. Raises: Fatal if another holds it."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # the folder was removed by its last holder
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode(errors='replace').strip() or 'unknown'
            os.close(descriptor)
            raise Fatal(
                f'{folder} is in use by another run (process {holder}): wait for its end, or use another folder'
            ) from None
        if _is_still_there(descriptor, folder / NAME):
            return descriptor
        os.close(descriptor)


def _is_still_there(descriptor: int, file: Path) -> bool:
    """Return whether the open file still has that path, and was not removed or replaced."""
    try:
        there = file.stat()
    except FileNotFoundError:
        return False
    opened = os.fstat(descriptor)
    return (opened.st_dev, opened.st_ino) == (there.st_dev, there.st_ino)
