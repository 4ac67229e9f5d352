"""Addresses of Unix sockets whose paths may be of any length: an address holds 107 bytes (unix(7)).

Linux shows an open folder as /proc/self/fd/N, and what lies in it is named from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def shorten_address(path: Path) -> Iterator[str]:
    """An address by which this process binds or connects the socket at `path`, within the block."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f'/proc/self/fd/{folder}/{path.name}'
    finally:
        os.close(folder)
