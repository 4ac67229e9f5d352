"""Run a command in a separate process, within limits of time and memory.

If it exceeds them, it is ended with all its descendants. The child should end when its standard
input ends, so that it does not outlive a killed parent (`kill_this_process_when_input_ends`).

`python -m flows.batches.contained` is such a child: it runs `coevo` with the arguments on the first
line of its standard input, separated by NUL.
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

# The time that a child gets after SIGTERM to close its sandboxes.
GRACE_SECONDS = 15.0
# The length of standard error that is kept: its end, where a traceback names the exception.
_KEPT_BYTES = 64 << 10
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Limits of a child: wall time, and memory of its own; sandboxes have limits of their own."""

    seconds: float
    memory_gib: float


class StopReason(StrEnum):
    """The reasons why a child is ended from outside."""

    TIME = 'time'
    MEMORY = 'memory'
    ASKED = 'asked'


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildExit:
    """The end of a child: its status, negative for a signal, and the end of its standard error."""

    status: int
    stop: StopReason | None
    complaint: str

    @property
    def last_line(self) -> str:
        """The last line of standard error: an exception or a sentence; empty if there was none."""
        return (self.complaint.strip().splitlines() or [''])[-1]


def run_command(
    command: Sequence[str],
    stdin: bytes,
    limits: BatchLimits,
    *,
    on_output_line: Callable[[bytes], None],
    should_stop: Callable[[], bool],
    environment: Mapping[str, str],
) -> ChildExit:
    """Run a command to its end, or end it when it exceeds its limits; return how it ended.

    stdin        what is written to its standard input, which stays open
    hear         gets each line of its standard output, in the caller's thread
    over         called about every half second; true ends the command
    environment  all of its environment variables
    """
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
            stop = _watch_process(
                process, limits, should_stop, lambda: _forward_lines(lines, on_output_line)
            )
        finally:
            end_process_tree(process)
            with suppress(BrokenPipeError):
                process.stdin.close()
            reader.join(timeout=GRACE_SECONDS)
            process.stdout.close()
        _forward_lines(lines, on_output_line)
        return ChildExit(status=process.returncode, stop=stop, complaint=_read_tail(errors))


def kill_this_process_when_input_ends() -> None:
    """Kill this process as soon as its standard input ends; to be called in a child.

    A kill does no harm to the store, and sandboxes and helpers end with the process that started
    them.
    """

    def kill_when_input_ends() -> None:
        """Wait for the end of standard input, then kill this process."""
        while os.read(sys.stdin.fileno(), 1 << 10):
            pass
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill_when_input_ends, daemon=True).start()


def end_process_tree(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end if it still runs, then kill it and all its descendants."""
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
        os.killpg(process.pid, signal.SIGKILL)  # also kills orphaned descendants
    process.wait()


def _watch_process(
    process: subprocess.Popen[bytes],
    limits: BatchLimits,
    should_stop: Callable[[], bool],
    forward_output: Callable[[], None],
) -> StopReason | None:
    """Wait until a process ends or has to be ended, and return why it has to be.

    None if it ended by itself. The process is not ended here.
    """
    deadline = time.monotonic() + limits.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
            return None
        forward_output()
        if should_stop():
            return StopReason.ASKED
        if time.monotonic() > deadline:
            return StopReason.TIME
        if _measure_memory_without_children(process) > limits.memory_gib * (1 << 30):
            return StopReason.MEMORY


def _measure_memory_without_children(process: subprocess.Popen[bytes]) -> int:
    """Return the memory of the process alone, in bytes; sandboxes have limits of their own."""
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


def _forward_lines(lines: Lines, on_output_line: Callable[[bytes], None]) -> None:
    """Pass lines to `hear` in the caller's thread, so that its errors are raised there."""
    while not lines.empty():
        on_output_line(lines.get())


def _read_tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _KEPT_BYTES))
    return errors.read().decode('utf-8', 'replace')


if __name__ == '__main__':
    from coevo.command.main import main

    words = sys.stdin.buffer.readline().decode().removesuffix('\n').split('\0')
    kill_this_process_when_input_ends()
    raise SystemExit(main(words))
