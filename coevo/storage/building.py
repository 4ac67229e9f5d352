"""Folders that are made once, by whichever process comes first, and are whole or not there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def build_folder_once(target: Path) -> Iterator[Path | None]:
    """A temporary folder that becomes `target` in the end; None if another process made it.

    Its parent is for what is of use only until then.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(target.name + '.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir():
            yield None
            return
        scratch = target.with_name(f'.new-{target.name}')
        shutil.rmtree(scratch, ignore_errors=True)  # of a process that was killed
        new = scratch / target.name  # own name: that of the target
        new.mkdir(parents=True)
        try:
            yield new
            _make_readable_to_all(new)
            new.rename(target)
        finally:
            shutil.rmtree(scratch)


def _make_readable_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob('*')):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
