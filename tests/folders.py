"""Folders that the sandbox's users can enter; pytest's own are closed to them."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def open_folder() -> Iterator[Path]:
    """One that is gone when it is left."""
    with tempfile.TemporaryDirectory(prefix='coevo-test-', dir='/var/tmp') as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A copy of a folder that one of the workers of this session has filled, the others wait for.

    make  fills the folder; what it writes may name its path, which stays
    """
    base = factory.getbasetemp()
    shared = base.parent if 'PYTEST_XDIST_WORKER' in os.environ else base
    original, done = shared / f'made-{name}', shared / f'made-{name}.done'
    with (shared / f'made-{name}.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(original, ignore_errors=True)  # of a worker that failed
            original.mkdir()
            make(original)
            done.touch()
    return Path(shutil.copytree(original, factory.mktemp(name) / name, symlinks=True))
