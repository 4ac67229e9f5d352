"""Files that are written whole and reach the disk, or are not there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Stands in the names that a kill leaves behind; no reader looks at them.
UNFINISHED = '.new-'


def write_durably(path: Path, parts: Iterable[bytes]) -> None:
    """Replace the file at `path`; its folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Threads, and machines that share the folder, may write the same file at once.
    temporary = path.with_name(f'{path.name}{UNFINISHED}{secrets.token_hex(6)}')
    try:
        with name_file_in_errors(path), temporary.open('wb') as new:
            new.writelines(parts)
            new.flush()
            os.fsync(new.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_to_disk(path.parent)


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Let trouble with writing say what was written: a full disk does not, nor does a name of ours."""
    try:
        yield
    except OSError as error:
        if error.filename is None or UNFINISHED in os.fsdecode(error.filename):
            error.filename = str(path)
        raise


def sync_to_disk(path: Path) -> None:
    """Let a file, or the names in a folder, survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Files that say themselves whether they are whole; one that is not counts as missing.


def write_checksummed(file: Path, data: bytes) -> None:
    write_durably(file, [_compute_checksum(data), b'\n', data])


def load_checksummed(file: Path) -> bytes | None:
    """What was written; None if nothing was, or if it is damaged, in which case it is removed."""
    try:
        checksum, _, data = file.read_bytes().partition(b'\n')
    except FileNotFoundError:
        return None
    if checksum != _compute_checksum(data):
        file.unlink(missing_ok=True)
        return None
    return data


def _compute_checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


# Folders that are made once, by whichever process comes first, and are whole or not there.


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
