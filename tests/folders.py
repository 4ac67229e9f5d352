"""Folders that the sandbox's users can enter; pytest's own are closed to them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """One that is gone when it is left."""
    with tempfile.TemporaryDirectory(prefix='coevo-test-', dir='/var/tmp') as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
