"""Files of which the clone lacks the content, and whether a test process read one of them.

A partial clone lacks objects. In a tree on disk, a stand-in takes the place of such a file: it has
the file's path and other content. A build copies stand-ins as it copies resources. What a
test makes of a stand-in says nothing about the project, so a process that reads one has no
verdicts. The kernel notes the time of a file's last reading (atime). The shell that started the
test process sets these times to the epoch beforehand, and afterwards looks at them. It confirms
only if none has changed. A process that is killed leaves no confirmation.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from coevo.git.repository import find_missing_object_id
from coevo.languages.core.cell_files import StandIn
from coevo.languages.java.places import TREE
from coevo.sandboxes.sandbox import Job

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
