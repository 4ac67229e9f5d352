"""The process that runs RefactoringMiner: started on demand, killed when it exceeds its limits."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import psutil

from coevo.languages.java.tools.jdks import choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.toolchain import fetch_refactoring_miner_jars
from coevo.languages.refactorings import RefactoringsUnknown
from coevo.model.errors import Fatal

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
