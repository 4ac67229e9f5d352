"""A cache folder of checksummed files by key, bounded in size.

A damaged file counts as missing. The least recently used files are removed first.
"""

from __future__ import annotations

from pathlib import Path

from coevo.storage import durable

BOUND_BYTES = 256 << 20


class FileCache:
    """A cache in a folder; without a folder it stores nothing. Safe from several threads."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None and folder.is_dir():
            _make_room(folder)

    def read(self, key: str) -> bytes | None:
        """Return the data of a key; None if it is missing or damaged."""
        if self._folder is None:
            return None
        file = _locate_file(self._folder, key)
        data = durable.load_checksummed_removing_damaged(file)
        if data is not None:
            file.touch()  # marks it as used, for `_make_room`
        return data

    def write_entry(self, key: str, data: bytes) -> None:
        """Store the data of a key."""
        if self._folder is not None:
            durable.write_checksummed(_locate_file(self._folder, key), data)


def _locate_file(folder: Path, key: str) -> Path:
    return folder / key[:2] / key  # own name: a digest


def _make_room(folder: Path) -> None:
    """Remove the oldest files down to three quarters of the limit, if the limit is exceeded."""
    entries = [(file.stat(), file) for file in folder.glob('??/*')]
    used = sum(state.st_size for state, _ in entries)
    if used <= BOUND_BYTES:
        return
    for state, file in sorted(entries, key=lambda entry: entry[0].st_mtime):
        if used <= BOUND_BYTES * 3 // 4:
            return
        file.unlink(missing_ok=True)
        used -= state.st_size
