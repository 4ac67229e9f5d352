"""Detect the refactorings of a pair with RefactoringMiner, in a process that is killed when it
exceeds its limits.

Nothing is checked out. An unknown result is distinct from "no refactoring": if there is no JVM, if
the worker hangs or dies, or if the pair is too large, the row is kept and its track is withheld.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self, cast

import psutil

from coevo.git.repository import FileChange, Repository
from coevo.languages.java.tools.jdks import choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.toolchain import fetch_refactoring_miner_jars
from coevo.languages.refactorings import (
    Refactoring,
    RefactoringLocation,
    Refactorings,
    RefactoringStatus,
    RefactoringsUnknown,
)
from coevo.model.errors import Fatal

# The process that runs RefactoringMiner: started on demand, killed when it exceeds its limits.

_ROOT = Path(__file__).resolve().parents[4]
_SAMPLE_MILLISECONDS = 100
_BLOCK = 1 << 20
# The exit status that `-XX:+ExitOnOutOfMemoryError` gives a JVM.
_EXHAUSTED = 3
# The variables that Python and the JVM need. Others, such as a user's JVM options or secrets, are
# not passed on.
_KEPT = ('PATH', 'LD_LIBRARY_PATH')

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MinerLimits:
    """The limits for mining one pair; beyond them, its result is unknown.

    In a sample of 136 pairs, one took 70 CPU seconds and all others less than 25.

    heap_bytes    heap of the JVM, which serves many pairs; it needs about 300 MiB in addition
    files, bytes  number and size of the files that differ, over both ends
    """

    cpu_seconds: float = 120
    wall_seconds: float = 1200
    heap_bytes: int = 1 << 30
    files: int = 2000
    bytes: int = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MinerPairEnd:
    """The data about one end of a pair.

    files    texts of the files that differ, by path
    folders  folders of all Java files; without them, a package without changes would seem deleted
    """

    files: Mapping[str, str]
    folders: Sequence[str]


class RefactoringProcess:
    """A worker process with RefactoringMiner, for use by one thread.

    It starts with the first request and is reused until it dies, is killed or `close` is called. It
    has a session of its own, so that Ctrl-C reaches only the parent process, which then stops it.
    It ends by itself when the parent ends, whatever the reason.
    """

    def __init__(self, limits: MinerLimits) -> None:
        self._limits = limits
        self._popen: subprocess.Popen[bytes] | None = None
        self._stop: weakref.finalize[Any, Any] | None = None
        self._no_jvm = False

    @property
    def pid(self) -> int | None:
        """The process id of the worker; None if none is running."""
        return self._popen.pid if self._popen is not None else None

    def request_refactorings(
        self, old: MinerPairEnd, new: MinerPairEnd
    ) -> Answer | RefactoringsUnknown:
        """Return the worker's answer for the two ends of a pair, or the reason why there is none.

        Starts the worker if none is running. A worker that dies or exceeds a limit is ended.
        """
        try:
            if self._popen is None and (trouble := self._start_worker()) is not None:
                return trouble
            return self._exchange_lines(_encode_request(old, new))
        except BaseException:
            self.close()  # otherwise the next request would read the answer to this one
            raise

    def close(self) -> None:
        """Kill the worker and all of its child processes, and wait for its end."""
        if self._stop is not None:
            self._stop()
        self._popen = self._stop = None

    def _start_worker(self) -> RefactoringsUnknown | None:
        if self._no_jvm:
            return RefactoringsUnknown.NO_JVM
        try:
            jdk = choose_jdk_for_tools(find_jdks())
        except Fatal:
            self._no_jvm = True
            return RefactoringsUnknown.NO_JVM
        self._popen = subprocess.Popen(
            [
                *(sys.executable, '-m', 'coevo.languages.java.refactorings.worker'),
                str(jdk.home / 'lib' / 'server' / 'libjvm.so'),
                os.pathsep.join(map(str, fetch_refactoring_miner_jars(jdk))),
                str(self._limits.heap_bytes),
                str(os.getpid()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd='/',
            env=_make_environment(),
            start_new_session=True,
        )
        self._stop = weakref.finalize(self, _kill_worker, self._popen)
        hello = self._exchange_lines(b'')
        if isinstance(hello, RefactoringsUnknown):
            return hello
        if 'no_jvm' in hello:
            self._no_jvm = True
            self.close()
            return RefactoringsUnknown.NO_JVM
        return None

    def _exchange_lines(self, request: bytes) -> Answer | RefactoringsUnknown:
        """Send a request and return the parsed answer; if there is none, end the worker.

        The result is then the reason: it died or was too slow.
        """
        popen = self._popen
        assert popen is not None
        assert popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            popen.stdin.write(request)
            popen.stdin.flush()
        line = self._receive_line(popen)
        if isinstance(line, RefactoringsUnknown):
            self.close()
            return line
        return cast(Answer, json.loads(line))

    def _receive_line(self, popen: subprocess.Popen[bytes]) -> bytes | RefactoringsUnknown:
        assert popen.stdout is not None
        clock = _MinerClock(popen.pid, self._limits)
        poll = select.poll()
        poll.register(popen.stdout, select.POLLIN)
        received = bytearray()
        while not received.endswith(b'\n'):
            if poll.poll(_SAMPLE_MILLISECONDS):
                block = os.read(popen.stdout.fileno(), _BLOCK)
                if not block:
                    return _explain_death(popen)
                received += block
            elif clock.is_time_up():
                return RefactoringsUnknown.TIMEOUT
        return bytes(received)


class _MinerClock:
    """Measures the time that a worker takes, from now on."""

    def __init__(self, pid: int, limits: MinerLimits) -> None:
        self._process = psutil.Process(pid)
        self._limits = limits
        self._begun = time.monotonic(), self._measure_cpu_seconds()

    def is_time_up(self) -> bool:
        """Return whether the wall time or the CPU time exceeds its limit."""
        wall, cpu = self._begun
        return (
            time.monotonic() - wall > self._limits.wall_seconds
            or self._measure_cpu_seconds() - cpu > self._limits.cpu_seconds
        )

    def _measure_cpu_seconds(self) -> float:
        try:
            times = self._process.cpu_times()
        except psutil.NoSuchProcess:
            return 0.0
        return float(times.user + times.system)


def _explain_death(popen: subprocess.Popen[bytes]) -> RefactoringsUnknown:
    return (
        RefactoringsUnknown.OUT_OF_MEMORY
        if popen.wait() == _EXHAUSTED
        else RefactoringsUnknown.CRASHED
    )


def _encode_request(old: MinerPairEnd, new: MinerPairEnd) -> bytes:
    ends = {'old': old, 'new': new}
    request = {k: {'files': dict(v.files), 'folders': list(v.folders)} for k, v in ends.items()}
    return json.dumps(request).encode() + b'\n'


def _make_environment() -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**inherited, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'PYTHONPATH': str(_ROOT)}


def _kill_worker(popen: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)
    for stream in (popen.stdin, popen.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    popen.wait()


# Detect the refactorings of a pair with RefactoringMiner, from the contents of changed files.

SUFFIX = '.java'
_LINE_END = re.compile('\r\n|\r|\n')  # the line ends that RefactoringMiner's parser counts


class RefactoringMiner:
    """A miner of refactorings for one thread; its worker process starts when first needed.

    `limits` apply to each pair. Leaving the context kills the worker.
    """

    def __init__(self, limits: MinerLimits | None = None) -> None:
        self._limits = limits or MinerLimits()
        self.process = RefactoringProcess(self._limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close()

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Return the refactorings between two revisions, from the Java files that differ.

        If there is no result, the status is unknown, with a reason. Raises: CorruptObject if a file
        cannot be read.
        """
        changes = [c for c in repository.list_changes(old, new) if c.path.endswith(SUFFIX)]
        trees = (repository.tree(old), repository.tree(new))
        return self.compare(*_fetch_contents(repository, changes), *trees)

    def compare(
        self,
        old: Mapping[str, bytes],
        new: Mapping[str, bytes],
        all_old: Iterable[str] = (),
        all_new: Iterable[str] = (),
    ) -> Refactorings:
        """Return the refactorings between two sets of files, given as contents by path.

        The result is unknown, with a reason, if the sets are too large or the worker fails.
        `all_old` and `all_new` are paths of all files at either end: without them, a package whose
        files are unchanged would seem to be missing.
        """
        size = sum(map(len, (*old.values(), *new.values())))
        if len(old.keys() | new.keys()) > self._limits.files or size > self._limits.bytes:
            return _make_unknown(RefactoringsUnknown.TOO_LARGE)
        if not old or not new:
            return Refactorings(status=RefactoringStatus.FOUND)  # there is nothing to compare with
        left, right = (
            {_sanitise_path(p): _decode_text(c) for p, c in end.items()} for end in (old, new)
        )
        folders = (
            _list_folders_and_parents((*old, *all_old)),
            _list_folders_and_parents((*new, *all_new)),
        )
        answer = self.process.request_refactorings(
            MinerPairEnd(files=left, folders=folders[0]),
            MinerPairEnd(files=right, folders=folders[1]),
        )
        if isinstance(answer, RefactoringsUnknown):
            return _make_unknown(answer)
        if 'error' in answer:
            return _make_unknown(RefactoringsUnknown.CRASHED)
        ends = _JavaEndLines(left, old), _JavaEndLines(right, new)
        refactorings = {_parse_refactoring(row, *ends) for row in answer['refactorings']}
        return Refactorings(
            status=RefactoringStatus.FOUND,
            refactorings=tuple(sorted(refactorings, key=_get_sort_key)),
            cpu_seconds=answer['cpu_seconds'],
        )


class RefactoringMiners:
    """One miner for each calling thread, all closed together; implements `RefactoringFinder`."""

    def __init__(self) -> None:
        self._opened: dict[int, RefactoringMiner] = {}

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Return the refactorings between two revisions, with the miner of the calling thread."""
        miner = self._opened.setdefault(threading.get_ident(), RefactoringMiner())
        return miner.find(repository, old, new)

    def close(self) -> None:
        """Kill all workers; threads waiting for one receive an unknown result."""
        for miner in tuple(self._opened.values()):
            miner.process.close()


def _make_unknown(why: RefactoringsUnknown) -> Refactorings:
    return Refactorings(status=RefactoringStatus.UNKNOWN, why=why)


def _fetch_contents(
    repository: Repository, changes: Iterable[FileChange]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    old, new = {}, {}
    for change in changes:
        if change.old_oid == change.new_oid:
            continue  # only the file mode differs
        if change.old_oid is not None:
            old[change.path] = repository.blob(change.old_oid)
        if change.new_oid is not None:
            new[change.path] = repository.blob(change.new_oid)
    return old, new


def _list_folders_and_parents(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of Java files and all of their parents, sorted."""
    direct = {PurePosixPath(path).parent for path in paths if path.endswith(SUFFIX)}
    folders = {str(ancestor) for folder in direct for ancestor in (folder, *folder.parents)}
    return tuple(sorted(map(_sanitise_path, folders - {'.'})))


def _sanitise_path(path: str) -> str:
    """Return a path as Java can represent it, without surrogates for bytes that are not UTF-8."""
    return path.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')


def _decode_text(content: bytes) -> str:
    return content.decode('utf-8', 'replace').removeprefix('\ufeff')


class _JavaEndLines:
    """The files of one end of a pair by lines, from which it cuts out declarations."""

    def __init__(self, texts: Mapping[str, str], paths: Iterable[str]) -> None:
        self._texts = texts
        self._lines: dict[str, list[str]] = {}
        self.paths = {_sanitise_path(path): path for path in paths}

    def extract_declaration(self, row: list[Any]) -> str:
        """Return the source of the code element in a worker's row; '' if it is no declaration."""
        file, first, last, start, end, kind, *_ = row
        if not kind.endswith('_DECLARATION') or kind == 'SINGLE_VARIABLE_DECLARATION':
            return ''
        if file not in self._lines:
            self._lines[file] = _LINE_END.split(self._texts[file])
        lines = self._lines[file][first - 1 : last]
        if kind != 'FIELD_DECLARATION':  # a field's range covers only one declarator
            lines[-1] = lines[-1][: max(end - 1, 0)]
            lines[0] = lines[0][max(start - 1, 0) :]
        return '\n'.join(lines)


def _parse_refactoring(
    row: Mapping[str, Any], old: _JavaEndLines, new: _JavaEndLines
) -> Refactoring:
    return Refactoring(
        type=row['type'],
        description=row['description'],
        left=tuple(sorted({_parse_location(each, old) for each in row['left']})),
        right=tuple(sorted({_parse_location(each, new) for each in row['right']})),
        pure=row['pure'],
    )


def _parse_location(row: list[Any], lines: _JavaEndLines) -> RefactoringLocation:
    file, start_line, end_line, start_column, end_column, element_type, element, role = row
    return RefactoringLocation(
        file=lines.paths[file],
        start_line=start_line,
        end_line=end_line,
        element_type=element_type,
        element=element,
        role=role,
        start_column=start_column,
        end_column=end_column,
        source=lines.extract_declaration(row),
    )


def _get_sort_key(one: Refactoring) -> tuple[object, ...]:
    return one.type, one.description, one.left, one.right, repr(one.pure)
