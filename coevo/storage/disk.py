"""Folders for everything but data, and file-system errors that a user can fix, explained in a
sentence.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# As root, the sandbox runs as another user, who must be able to reach the mounted files. Root's
# home is closed to that user; the system's own folders are not.
SYSTEM_CACHE = Path('/var/cache/coevo')


def find_cache_folder() -> Path:
    """Return the folder of tools and libraries.

    It is $COEVO_CACHE if that is set, else the system's for root, else the user's.
    """
    named = os.environ.get('COEVO_CACHE')
    if named:
        return Path(named).absolute()  # own name: the user's
    if os.geteuid() == 0:
        return SYSTEM_CACHE
    base = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(base) / 'coevo'  # own name: the user's


def find_work_root() -> Path:
    """Return the folder under which runs work.

    It is $COEVO_WORK if that is set, else /var/tmp, which is on disk and open to all users.
    """
    return Path(os.environ.get('COEVO_WORK') or '/var/tmp').absolute()  # own name: the user's


# Any other error number is a bug of coevo and keeps its traceback.
TROUBLE = {
    errno.EACCES: 'give yourself the right to it, or name another place',
    errno.EPERM: 'give yourself the right to it, or name another place',
    errno.EROFS: 'name a place that can be written to',
    errno.ENOSPC: 'make room there, then run the same command again',
    errno.EDQUOT: 'make room there, then run the same command again',
    errno.EFBIG: 'allow larger files there, then run the same command again',
    errno.EIO: 'mend the disk, or name another place',
    errno.ENOENT: 'name one that is there',
    errno.ENOTDIR: 'a file stands where a folder has to be: name another place',
    errno.EISDIR: 'a folder stands where a file has to be: name another place',
    errno.EEXIST: 'a file stands where a folder has to be: name another place',
    errno.ELOOP: 'its links lead in a circle: name another place',
    errno.ENAMETOOLONG: 'name a place with a shorter path',
    errno.EMFILE: 'allow more open files (`ulimit -n`), then run the same command again',
    errno.ENFILE: 'close other programs, then run the same command again',
    errno.ENOMEM: 'make room in memory, then run the same command again',
    errno.ENOLCK: 'name a place on a file system that can lock files',
    errno.ESTALE: 'mount it again, then run the same command again',
    errno.ETXTBSY: 'wait until nobody runs it, then run the same command again',
}


# A disk with fewer free bytes counts as full: by the time of the check, the file that did not fit
# is removed.
_LEAST_BYTES = 1 << 20

# For these errors of a copy, the file in question is the target, which is the second file name.
_OF_THE_TARGET = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def can_user_fix(error: OSError, words: Sequence[str]) -> bool:
    """Return whether the user can fix an error; `words` are those of the command line.

    A missing file is the user's to fix if the command names it or something below it. An existing
    file is, if it stands in the place of a folder. Every other error is, if `TROUBLE` lists it.
    """
    if error.errno == errno.ENOENT:
        return error.filename is not None and _is_named_in(os.fsdecode(error.filename), words)
    if error.errno == errno.EEXIST:
        there = Path(os.fsdecode(error.filename or ''))
        return there.exists() and not there.is_dir()
    return error.errno in TROUBLE


def _is_named_in(path: str, words: Sequence[str]) -> bool:
    given = [Path(part).absolute() for word in words for part in (word, word.partition('=')[2])]
    return any(Path(path).absolute() in (given_path, *given_path.parents) for given_path in given)


def describe_trouble(error: OSError, words: Sequence[str] = ()) -> str:
    """Return what cannot be used and what to do about it, as one sentence.

    If a full-disk error names no file, the full folder is named.

    words  of the command line, which may name folders
    """
    assert error.errno is not None
    name = error.filename
    if error.errno in _OF_THE_TARGET and error.filename2 is not None:
        name = error.filename2
    if name is None and error.errno in (errno.ENOSPC, errno.EDQUOT):
        name = next(filter(_is_full, _list_writable_folders(words)), None)
    what = 'a file' if name is None else os.fsdecode(name)
    return f'{what} cannot be used ({os.strerror(error.errno)}); {TROUBLE[error.errno]}'


def _list_writable_folders(words: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that a command may write to: those it names, coevo's, the current one."""
    for word in words:
        for part in (word, word.partition('=')[2]):
            if part and not part.startswith('-'):
                yield from (
                    folder
                    for folder in (Path(part), *Path(part).absolute().parents)
                    if folder.exists()
                )
    yield from (find_work_root(), Path(tempfile.gettempdir()), find_cache_folder(), Path.cwd())


def _is_full(folder: Path) -> bool:
    try:
        file_system = os.statvfs(folder)
    except OSError:
        return False
    blocks = (
        bool(file_system.f_blocks) and file_system.f_bavail * file_system.f_frsize < _LEAST_BYTES
    )
    return blocks or (bool(file_system.f_files) and not file_system.f_favail)


# DuckDB with bounded memory: excess data spills to disk, and row order is not preserved.

# Each thread needs memory of its own that cannot spill.
_THREADS = 4


def limit_memory_and_allow_spilling(
    connection: duckdb.DuckDBPyConnection, folder: str, *, megabytes: int
) -> None:
    """Limit a connection's threads and memory, and let it spill to a folder."""
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute(f'SET threads = {min(threads, _THREADS)}')
    connection.execute(f"SET memory_limit = '{megabytes}MB'")
    connection.execute('SET temp_directory = ?', [folder])
    connection.execute('SET preserve_insertion_order = false')
