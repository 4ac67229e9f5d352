"""Libraries and tools of one test process in a folder of their own, to be mounted instead of the
shared ones: a test sees what its class path names, and no place of the host but this folder.

Hard links, since every mount costs bubblewrap more than the one before: a hundred jars would take
36 ms of CPU to each process, one folder of them takes less than one (benchmarks/figures.md).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from coevo.model.records import compute_short_hash
from coevo.sandboxes.sandbox import Mount
from coevo.storage.beneath import SafePath, join_beneath


def mount_shelves(folder: Path, files: Mapping[str, Path]) -> Iterator[Mount]:
    """A mount for each top folder of some places in the sandbox, with these files and no other.

    folder  holds a shelf for each set that was asked for; safe from several threads
    files   place -> file of the host; what is no regular file is left out
    """
    known = {
        sandbox_path: file for sandbox_path, file in sorted(files.items()) if _is_regular_file(file)
    }
    if not known:
        return
    shelf = folder / compute_short_hash(
        *(f'{sandbox_path}\0{file}' for sandbox_path, file in known.items())
    )
    if not shelf.is_dir():
        _fill_shelf(shelf, known)
    for top in sorted({PurePosixPath(sandbox_path).parts[1] for sandbox_path in known}):
        yield Mount(source=shelf / top, target=f'/{top}')


def _is_regular_file(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _fill_shelf(shelf: Path, files: Mapping[str, Path]) -> None:
    """Whole or not at all: another thread may be about to use it, or to make it, too."""
    shelf.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=shelf.parent, prefix='new-') as scratch:
        new = Path(scratch, 'shelf')
        for sandbox_path, file in files.items():
            _link_file(file, join_beneath(new, sandbox_path.lstrip('/')))
        try:
            new.rename(shelf)
        except OSError:
            if not shelf.is_dir():
                raise


def _link_file(file: Path, target: SafePath) -> None:
    """Keep size and time: an archive of classes is valid for a jar of the same ones alone."""
    try:
        target.add_hard_link(file)
    except OSError:  # another file system, or a file of another user's
        with file.open('rb') as source, target.open_new_file() as copy:
            shutil.copyfileobj(source, copy)
            times = os.fstat(source.fileno())
            copy.flush()
            os.utime(copy.fileno(), ns=(times.st_atime_ns, times.st_mtime_ns))
