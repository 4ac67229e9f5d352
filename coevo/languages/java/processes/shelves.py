"""Give each test process its libraries and tools in a folder of their own.

That folder is mounted instead of the shared ones, so that a test sees only what its class path
names. The files are hard links in one folder because the cost of a mount in bubblewrap grows with
their number: a hundred jars would cost each process 36 ms of CPU time, one folder costs less than 1
ms (benchmarks/figures.md).
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
    """Yield mounts that show a sandbox only the given files of the shared folders.

    There is one mount for each top folder of the sandbox paths. Its source is filled with hard
    links to the files if it does not exist yet.

    folder  holds one subfolder for each set of files; thread-safe
    files   sandbox path -> file of the host; entries that are no regular files are skipped
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
    """Create a folder with links to the files, in one step, since other threads may do the same."""
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
    """Hard-link a file; if that fails, copy it with its time, on which class archives depend."""
    try:
        target.add_hard_link(file)
    except OSError:  # the file is on another file system or belongs to another user
        with file.open('rb') as source, target.open_new_file() as copy:
            shutil.copyfileobj(source, copy)
            times = os.fstat(source.fileno())
            copy.flush()
            os.utime(copy.fileno(), ns=(times.st_atime_ns, times.st_mtime_ns))
