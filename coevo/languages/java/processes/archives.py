"""Archives of loaded classes (AppCDS) that spare fresh JVMs the parsing of their libraries.

An archive holds classes of libraries alone, as the JVM reads them from their jars; no code of a
project takes part in making it. Only the list of class names may come from a process that ran
tests, and nothing but names is let through. The JVM itself checks that jars, their order and its own
version are those of the archive; if not, it goes on without (`-Xshare:auto`).
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo.languages.java.places import ARCHIVES
from coevo.model.records import short_hash
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Limits
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage import durable

# About 25 MB each; the one that was used least recently goes first.
ARCHIVES_KEPT = 40

# Of a process that lists what it loads, as far as it gets in a short time: option and shell script.
LISTING = '-XX:DumpLoadedClassList=/tmp/coevo-classes'
LIST = '(ulimit -t 10; timeout -s KILL 60 "$@" 3>/dev/null 1>&2) || true\ncat /tmp/coevo-classes'

# Of both processes that make an archive.
LIMITS = Limits(
    cpu_seconds=120,
    wall_seconds=600,
    memory_bytes=6 << 30,
    processes=512,
    file_bytes=1 << 30,
    disk_bytes=2 << 30,
)
_DUMP_BYTES = 64 << 30  # of addresses, which the JVM reserves lavishly when it makes an archive

_LIST_BYTES = 8 << 20
_ARCHIVE_BYTES = 1 << 29
_NAME = re.compile(rb'(@lambda-(proxy|form-invoker) )?[\w$/;.<>()\[: -]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What makes an archive: a process that lists what it loads, then one that only reads jars.

    listing  answers the request, and writes names of classes to its standard output
    dumping  reads that list at `Archives.list_file` and writes the archive to standard output
    """

    request: bytes
    listing: Job
    dumping: Job


class Archives:
    """The archives of a machine, in a folder that sandboxes see; safe from several threads."""

    def __init__(self, sandbox: Sandbox, folder: Path, lists: Path) -> None:
        self._sandbox, self._folder, self._lists = sandbox, folder, lists
        self._tried: set[str] = set()
        self._guard = threading.Lock()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def place(self, key: str) -> str | None:
        """Where the sandbox finds an archive, if it is there."""
        return f'{ARCHIVES}/{key}.jsa' if self._file(key).is_file() else None

    @contextlib.contextmanager
    def settling(self, key: str) -> Iterator[bool]:
        """Whether an archive is to be made now; who asks meanwhile waits until it is there, or never.

        A process can read with which archive it runs, so that all of a class path have the same. One
        costs as much CPU as about six of them save.
        """
        with self._guard:
            lock = self._locks[key]
        with lock:
            yield self.place(key) is None and key not in self._tried
            self._tried.add(key)

    def list_file(self, key: str) -> Path:
        return self._lists / f'{key}.classes'  # own name: a digest

    def make(self, key: str, rehearsal: Rehearsal) -> float:
        """CPU seconds that it took; it may fail, which costs no more than time."""
        listed, used = self._output(rehearsal.listing, rehearsal.request, _LIST_BYTES)
        names = [line for line in listed.splitlines() if _NAME.fullmatch(line)]
        if not names:
            return used
        durable.write(self.list_file(key), [b'\n'.join(names) + b'\n'])
        self.list_file(key).chmod(0o644)
        archive, more = self._output(rehearsal.dumping, b'', _ARCHIVE_BYTES)
        self.list_file(key).unlink()
        if archive:
            self._make_room()
            durable.write(self._file(key), [archive])
            self._file(key).chmod(0o644)
        return used + more

    def _file(self, key: str) -> Path:
        return self._folder / f'{key}.jsa'  # own name: a digest

    def _make_room(self) -> None:
        kept = sorted(self._folder.glob('*.jsa'), key=_last_use, reverse=True)
        for old in kept[ARCHIVES_KEPT - 1 :]:
            old.unlink(missing_ok=True)

    def _output(self, job: Job, request: bytes, limit: int) -> tuple[bytes, float]:
        """What a job writes, nothing if it fails or writes more than `limit` bytes."""
        with self._sandbox.start(job) as process:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(request)
                process.stdin.close()
            parts, left = [], limit
            while left > 0 and (part := process.stdout.read(min(left, 1 << 20))):
                parts.append(part)
                left -= len(part)
            if left <= 0:
                process.kill()
            status = process.wait()
            used = process.cpu_seconds()
        return b''.join(parts) if status == 0 and left > 0 else b'', used


def dumping(job: Job, java: Path, class_list: str, class_path: Sequence[str]) -> Job:
    """The same job, but that it reads a list of classes and jars alone, and writes an archive."""
    command = (
        *(str(java), '-Xshare:dump', '-XX:+UseG1GC', '-Xmx1g'),
        f'-XX:SharedClassListFile={class_list}',
        '-XX:SharedArchiveFile=/tmp/coevo.jsa',
        *('-cp', ':'.join(class_path)),
    )
    return replace(
        job,
        argv=('/bin/sh', '-c', '"$@" >&2 && cat /tmp/coevo.jsa', 'sh', *command),
        limits=replace(LIMITS, memory_bytes=_DUMP_BYTES),
    )


def archive_key(java: str, jdk: str, sandbox: str, libraries: Sequence[tuple[str, Path]]) -> str:
    """By what the JVM checks: itself, and place, size and time of every jar, in order."""
    states = ((place, file.stat()) for place, file in libraries)
    jars = (f'{place} {state.st_size} {state.st_mtime_ns}' for place, state in states)
    return short_hash(java, jdk, sandbox, *jars)


def _last_use(file: Path) -> float:
    try:
        state = file.stat()
    except FileNotFoundError:
        return 0.0
    return max(state.st_atime, state.st_mtime)
