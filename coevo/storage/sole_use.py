"""A folder that one run at a time makes anew: another one is told so instead of destroying its files."""

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
    """Have a folder to oneself until the block ends, or this process does; Fatal where another has it.

    FOLDER/.lock is held, and stays there: who empties the folder leaves it.
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
