"""Files that say themselves whether they are whole; one that is not counts as missing."""

from __future__ import annotations

import hashlib
from pathlib import Path

from coevo.storage import durable


def write_checksummed(file: Path, data: bytes) -> None:
    durable.write_durably(file, [_compute_checksum(data), b'\n', data])


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
