"""Atomic, durable files and folders: each is complete and on disk, or absent."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from coevo.model.errors import Fatal

# Part of the names of temporary files; readers ignore those that a killed process left behind.
UNFINISHED = '.new-'


def write_durably(path: Path, parts: Iterable[bytes]) -> None:
    """Replace the file at `path` atomically and sync it to disk; make missing parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The random part separates threads, and machines that share the folder, if they write the file
    # at once.
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
    """Let an OSError of the block name `path` if it names no file (full disk) or a temporary file.

    The error is raised in any case.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None or UNFINISHED in os.fsdecode(error.filename):
            error.filename = str(path)
        raise


def sync_to_disk(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk, so that they survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree_to_disk(folder: Path) -> None:
    """Sync a folder with all that is in it to disk, the innermost first."""
    for path in (*sorted(folder.rglob('*'), reverse=True), folder):
        sync_to_disk(path)


def write_checksummed(file: Path, data: bytes) -> None:
    """Write a file with a checksum, by which `load_checksummed_removing_damaged` detects damage."""
    write_durably(file, [_compute_checksum(data), b'\n', data])


def load_checksummed_removing_damaged(file: Path) -> bytes | None:
    """Return the data that `write_checksummed` wrote; None if the file is missing or damaged.

    A damaged file is removed.
    """
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


@contextlib.contextmanager
def build_folder_once(target: Path) -> Iterator[Path | None]:
    """Provide a temporary folder that becomes `target` on success; None if `target` exists.

    Processes wait for each other, so that only one builds the folder. The temporary folder's parent
    may hold scratch files; it is removed at the end.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(target.name + '.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir():
            yield None
            return
        scratch = target.with_name(f'.new-{target.name}')
        shutil.rmtree(scratch, ignore_errors=True)  # left by a killed process
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


def require_new(out: Path) -> None:
    """Raise Fatal if there is a file, folder or link at a path."""
    if out.exists() or out.is_symlink():
        raise Fatal(f'{out} already exists; name a new folder with --out')


@contextmanager
def build_new_folder(out: Path) -> Iterator[Path]:
    """Provide a folder to fill, which is renamed to `out` at the end, unless something is raised.

    Raises: Fatal if `out` exists.
    """
    require_new(out)
    target = out.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f'.{target.name}{UNFINISHED}', dir=target.parent
    ) as scratch:
        new = Path(scratch) / 'new'
        new.mkdir()
        yield new
        sync_tree_to_disk(new)
        require_new(out)
        new.rename(target)
        sync_to_disk(target.parent)


# A cache folder of checksummed files by key, bounded in size.
#
# A damaged file counts as missing. The least recently used files are removed first.

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
        data = load_checksummed_removing_damaged(file)
        if data is not None:
            file.touch()  # marks it as used, for `_make_room`
        return data

    def write_entry(self, key: str, data: bytes) -> None:
        """Store the data of a key."""
        if self._folder is not None:
            write_checksummed(_locate_file(self._folder, key), data)


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
