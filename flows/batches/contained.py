"""A command in a process of its own, ended with all that it started when it takes too much.

The child is to end by itself where its standard input does, so that it outlives no parent that was
killed (`stop_with_parent`).
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import IO

import psutil

Lines = queue.SimpleQueue[bytes]

# How long a child that is told to end may take to close its sandboxes.
GRACE_SECONDS = 15.0
# What of its standard error is kept: the last, where a traceback's exception stands.
_KEPT_BYTES = 64 << 10
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Of a child: wall time, and memory of its own; what runs in sandboxes is limited there."""

    seconds: float
    memory_gib: float


class StopReason(StrEnum):
    """Why a child was ended from outside."""

    TIME = 'time'
    MEMORY = 'memory'
    ASKED = 'asked'


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildExit:
    """How a child ended: its status, negative for a signal, and the end of its standard error."""

    status: int
    stop: StopReason | None
    complaint: str

    @property
    def last_line(self) -> str:
        """Of its standard error, where an exception or a sentence stands; empty if it said nothing."""
        return (self.complaint.strip().splitlines() or [''])[-1]


def run_command(
    command: Sequence[str],
    stdin: bytes,
    limits: BatchLimits,
    *,
    hear: Callable[[bytes], None],
    over: Callable[[], bool],
    environment: Mapping[str, str],
) -> ChildExit:
    """Run to the end. `hear` gets each line of its output; `over` says whether to end it."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=dict(environment),
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        lines: Lines = queue.SimpleQueue()
        reader = threading.Thread(target=_queue_lines, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.flush()
            stop = _watch_process(process, limits, over, lambda: _forward_lines(lines, hear))
        finally:
            end_process_tree(process)
            with suppress(BrokenPipeError):
                process.stdin.close()
            reader.join(timeout=GRACE_SECONDS)
            process.stdout.close()
        _forward_lines(lines, hear)
        return ChildExit(status=process.returncode, stop=stop, complaint=_read_tail(errors))


def stop_with_parent() -> None:
    """In a child: end at once, wherever it stands, when the standard input does.

    A kill is no harm to the store, and sandboxes and helpers end with the process that began them.
    """

    def kill_when_input_ends() -> None:
        while os.read(sys.stdin.fileno(), 1 << 10):
            pass
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill_when_input_ends, daemon=True).start()


def end_process_tree(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end if it still runs, then end it and all that it started."""
    started = _list_descendants(process)
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    started += _list_descendants(process)
    for descendant in started:
        with suppress(psutil.NoSuchProcess):
            descendant.kill()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # also what is nobody's child any more
    process.wait()


def _watch_process(
    process: subprocess.Popen[bytes],
    limits: BatchLimits,
    over: Callable[[], bool],
    pass_on: Callable[[], None],
) -> StopReason | None:
    """Wait for the end, or say why it has to be now."""
    deadline = time.monotonic() + limits.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
            return None
        pass_on()
        if over():
            return StopReason.ASKED
        if time.monotonic() > deadline:
            return StopReason.TIME
        if _measure_memory(process) > limits.memory_gib * (1 << 30):
            return StopReason.MEMORY


def _measure_memory(process: subprocess.Popen[bytes]) -> int:
    """Of the process alone; what it runs in sandboxes is limited there."""
    try:
        return int(psutil.Process(process.pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _list_descendants(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        return list(psutil.Process(process.pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _queue_lines(output: IO[bytes], lines: Lines) -> None:
    for line in output:
        lines.put(line)


def _forward_lines(lines: Lines, hear: Callable[[bytes], None]) -> None:
    """In the caller's thread, so that what goes wrong there is raised there."""
    while not lines.empty():
        hear(lines.get())


def _read_tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _KEPT_BYTES))
    return errors.read().decode('utf-8', 'replace')
