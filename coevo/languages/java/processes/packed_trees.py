"""The files of a test process: its tree as one archive, its libraries, and stand-ins for absent
content.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from coevo.git.repository import find_missing_object_id
from coevo.languages.core.cell_files import StandIn
from coevo.languages.java.places import TREE
from coevo.model.records import compute_short_hash
from coevo.sandboxes.sandbox import Job, Mount
from coevo.storage.beneath import SafePath, join_beneath

# The files of a test process: its tree as one archive file, and its libraries and tools in a folder
# of their own.

# Archives kept for each thread. Each is as large as its tree, and a test runs several times with
# the same one.
MOST_PACKED = 4

# 2000-01-01, earlier than any mined code, so that no file is newer than the clock of a process.
_SECONDS = 946_684_800

_Found = tuple[os.stat_result, Path]


class PackedTrees:
    """The packed trees that one thread uses, each an archive file; the latest MOST_PACKED are kept.

    `folder` must belong to this object alone; it is created if necessary. No process of the thread
    may run while an archive is written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packed: dict[tuple[tuple[Path, ...], tuple[str, ...]], Path] = {}

    def get_or_pack_archive(self, layers: Sequence[Path], removed: Sequence[str]) -> Path:
        """Return the archive of the layers laid over each other, without removed files.

        Packs them if they are not packed yet. A later layer hides files of an earlier one.
        Sandboxes can read the archive.
        """
        key = (tuple(layers), tuple(removed))
        if key in self._packed:
            self._packed[key] = self._packed.pop(key)  # mark as used most recently
            return self._packed[key]
        while len(self._packed) >= MOST_PACKED:
            self._packed.pop(next(iter(self._packed))).unlink()
        self._packed[key] = pack_tree(self._folder, layers, removed)
        return self._packed[key]

    def close(self) -> None:
        """Delete the folder with all archives."""
        shutil.rmtree(self._folder, ignore_errors=True)


def pack_tree(folder: Path, layers: Sequence[Path], removed: Collection[str]) -> Path:
    """Pack layers laid over each other into a new archive in `folder` and return its path.

    The name is random. A later layer hides files of an earlier one; `removed` paths are left out.
    """
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    archive_file = folder / secrets.token_hex(16)
    with tarfile.open(
        archive_file, 'w', format=tarfile.GNU_FORMAT, errors='surrogateescape'
    ) as archive:
        for name, (state, file) in sorted(_merge_layers(layers, removed).items()):
            _add_entry(archive, name, state, file)
    archive_file.chmod(0o644)
    return archive_file


def _merge_layers(layers: Sequence[Path], removed: Collection[str]) -> dict[str, _Found]:
    """Return the entries of the layers by path; a later layer hides an earlier one.

    Paths in `removed` are left out.
    """
    entries: dict[str, _Found] = {}
    for layer in layers:
        for name, entry in _list_entries(layer, ''):
            entries[name] = entry
    removed_names = {os.path.normpath(name) for name in removed}
    return {name: entry for name, entry in entries.items() if name not in removed_names}


def _list_entries(folder: Path, prefix: str) -> Iterator[tuple[str, _Found]]:
    """Yield the entries below a folder without following links; none if it does not exist."""
    try:
        listed = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in listed:
        name = f'{prefix}{entry.name}'
        state = entry.stat(follow_symlinks=False)
        yield name, (state, Path(entry.path))
        if stat.S_ISDIR(state.st_mode):
            yield from _list_entries(Path(entry.path), f'{name}/')


def _add_entry(archive: tarfile.TarFile, name: str, state: os.stat_result, file: Path) -> None:
    info = tarfile.TarInfo(name)
    info.mtime = _SECONDS
    info.mode = stat.S_IMODE(state.st_mode)
    if stat.S_ISDIR(state.st_mode):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(info)
    elif stat.S_ISLNK(state.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(file.readlink())
        archive.addfile(info)
    else:
        info.size = state.st_size
        with file.open('rb') as content:
            archive.addfile(info, content)


def make_mounts_of_files(folder: Path, files: Mapping[str, Path]) -> Iterator[Mount]:
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
        _link_files_into_folder(shelf, known)
    for top in sorted({PurePosixPath(sandbox_path).parts[1] for sandbox_path in known}):
        yield Mount(source=shelf / top, target=f'/{top}')


# Give each test process its libraries and tools in a folder of their own.
#
# That folder is mounted instead of the shared ones, so that a test sees only what its class path
# names. The files are hard links in one folder because the cost of a mount in bubblewrap grows with
# their number: a hundred jars would cost each process 36 ms of CPU time, one folder costs less than
# 1 ms (benchmarks/figures.md).


def _is_regular_file(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _link_files_into_folder(shelf: Path, files: Mapping[str, Path]) -> None:
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


# Files of which the clone lacks the content, and whether a test process read one of them.
#
# A partial clone lacks objects. In a tree on disk, a stand-in takes the place of such a file: it
# has the file's path and other content. A build copies stand-ins as it copies resources. What a
# test makes of a stand-in says nothing about the project, so a process that reads one has no
# verdicts. The kernel notes the time of a file's last reading (atime). The shell that started the
# test process sets these times to the epoch beforehand, and afterwards looks at them. It confirms
# only if none has changed. A process that is killed leaves no confirmation.

# Larger files are no stand-ins; a filtered copy may be longer than what it was made of.
_MOST_BYTES = 1 << 16

# A command line has a maximal length.
MOST_STAND_INS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedJob(Job):
    """A job whose shell reads a key and prints it at the end if no stand-in was read.

    objects  the missing objects that have stand-ins in the job's tree
    """

    objects: tuple[str, ...]


def find_stand_ins(layers: Sequence[Path]) -> tuple[StandIn, ...]:
    """Return the stand-ins in folders laid over each other, sorted by path.

    A copy of a stand-in counts as one. A file of a later folder hides that of an earlier one.
    """
    stand_ins: dict[str, StandIn | None] = {}
    for layer in layers:
        for path, file in _list_files(layer):
            stand_ins[path] = _read_stand_in(path, file)
    return tuple(stand_in for _, stand_in in sorted(stand_ins.items()) if stand_in is not None)


def _list_files(layer: Path) -> Iterator[tuple[str, Path]]:
    for folder, _, names in os.walk(layer):
        for name in names:
            file = Path(folder, name)
            yield file.relative_to(layer).as_posix(), file


def _read_stand_in(path: str, file: Path) -> StandIn | None:
    state = file.lstat()
    if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
        return None
    oid = find_missing_object_id(file.read_bytes())
    return None if oid is None else StandIn(path=path, oid=oid)


def wrap_with_stand_in_check(run: str, stand_ins: Sequence[StandIn]) -> str:
    """Return a shell script that does `run` and then prints a key if no stand-in was read.

    It reads the key from the first line of standard input. The exit status is that of `run`.
    """
    files = ' '.join(shlex.quote(f'{TREE}/{stand_in.path}') for stand_in in stand_ins)
    return f"""\
read -r key
touch -a -d @0 {files}
set +e
(
{run})
status=$?
[ -n "$(find {files} -newerat @0 2>&1)" ] || echo "$key"
exit $status
"""


class KeyedStream:
    """The output of a process by lines; `confirmed` is True once a line was its shell's key."""

    def __init__(self, stream: BinaryIO, key: str) -> None:
        self._stream, self._line = stream, f'{key}\n'.encode()
        self.confirmed = False

    def readline(self, size: int = -1) -> bytes:
        """Return the next line of the stream, also the key; empty at the end."""
        line = self._stream.readline(size)
        self.confirmed |= line == self._line
        return line
