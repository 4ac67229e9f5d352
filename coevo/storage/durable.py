"""Files that are written whole and reach the disk, or are not there."""

from __future__ import annotations

import hashlib
import os
import secrets
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
