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
def lock_for_sole_use(folder: Path) -> Iterator[None]:
    """Hold a folder exclusively until the block or this process ends.

    The lock is on FOLDER/.lock, which stays there afterwards: code that empties the folder must
    keep it.

    Raises: Fatal if another process holds the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode(errors='replace').strip() or 'unknown'
            raise Fatal(
                f'{folder} is in use by another run (process {holder}): wait for its end, or use another folder'
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f'{os.getpid()}\n'.encode(), 0)
        yield
    finally:
        os.close(descriptor)
