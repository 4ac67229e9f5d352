"""Sends orders to test processes in the sandbox, enforces limits, and tells how they ended."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from coevo.sandboxes.sandbox import Process

# The same limits as for Java (docs/evidence.md).
LEAST_CPU_LIMIT = 60.0
SLOWER_THAN_PASSING = 10
WALL_PER_CPU = 10
MOST_KILLS = 5

_POLL_SECONDS = 0.25
_LAST_WORDS_SECONDS = 30.0
_NOISE_SECONDS = 5.0
_LEAVING_SECONDS = 2.0

Name = TypeVar('Name')


class RunProgress(Protocol[Name]):
    """The progress of a process, as reported so far.

    running  the test that has begun and not ended
    late     the test whose time limit caused the process to be killed
    """

    @property
    def running(self) -> Name | None:
        """The test that has begun and not ended; None if there is none."""

    late: Name | None


class RunEventListener(RunProgress[Name], Protocol[Name]):
    """A receiver of the events of a run, which knows its progress.

    over  whether a session has reported all of the run
    """

    over: bool

    def handle_event(self, event: dict[str, Any]) -> None:
        """Record an event, or ignore it if it does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuBounds(Generic[Name]):
    """CPU seconds that a process may use. Wall time is bounded by `wall_per_cpu` times as much.

    tests       for each test
    loading     before the first test, and after the last
    whole       in total, if the process itself has no such limit
    loading_is  the limit that is recorded as exceeded if loading takes too long
    least_wall  wall seconds that every test may take
    """

    tests: Mapping[Name, float]
    loading: float
    whole: float = math.inf
    loading_is: str | None = None
    wall_per_cpu: float = WALL_PER_CPU
    least_wall: float = 0.0


def send_only_order(process: Process, order: str) -> None:
    """Send a process its only order as one line, and close its input.

    A process that has already ended is not an error.
    """
    text = process.translate_paths_for_job(order)
    try:
        process.stdin.write(text.encode(errors='surrogateescape') + b'\n')
        process.stdin.close()
    except BrokenPipeError:
        return  # it ended before it read the order; verdicts follow from its silence


def send_order_parts(process: Process, *parts: bytes) -> None:
    """Send an order in parts and leave the input open; do nothing if the process has ended."""
    try:
        for part in parts:
            process.stdin.write(part)
        process.stdin.flush()
    except BrokenPipeError:
        return


def dismiss_process(process: Process) -> None:
    """Close the input of a process that waits for orders, so that it ends; kill it if it does not.

    If a process is killed, its last CPU time is unknown.
    """
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.ends_within(_LEAVING_SECONDS)
    process.close()


def wait_and_describe_ending(process: Process) -> str:
    """Wait for the end of a process; return the limit that it exceeded, or `exit:` and its status.

    It has 30 seconds for its end. Then it is killed, and counts as `exit:0` if it exceeded no
    limit.
    """
    if not process.ends_within(_LAST_WORDS_SECONDS):
        process.kill()
        return process.exceeded or 'exit:0'
    return process.exceeded or f'exit:{process.wait()}'


def read_error_output_between_marks(process: Process, mark: str) -> str:
    """Return what a process wrote to standard error between two lines that consist of a mark.

    Waits up to 5 seconds for the second mark. If a mark is missing, returns what there is.
    """
    end = time.monotonic() + _NOISE_SECONDS
    while (noise := process.get_last_error_output()).count(mark) < 2 and time.monotonic() < end:
        if process.poll() is not None or noise.rstrip().endswith(mark):
            break  # nothing more comes, or so much was written that the first mark is gone
        time.sleep(0.002)
    *_, last = noise.rstrip().removesuffix(mark).rpartition(mark)
    return last.strip('\n')


def listen_until_over(
    process: Process,
    told: Iterable[dict[str, Any]],
    heard: RunEventListener[Name],
    bounds: CpuBounds[Name],
    begun: float,
) -> bool:
    """Pass events to a listener until it has heard all of a run; kill the process at a limit.

    Returns True if the session reported the whole run, False if the process ended or was killed
    before.

    told   the events, as `read_events` yields them
    heard  the listener
    begun  CPU seconds that the process had used before
    """
    with watch_limits(process, heard, bounds, begun):
        for event in told:
            heard.handle_event(event)
            if heard.over:
                return True
    return False


@contextmanager
def watch_limits(
    process: Process, heard: RunProgress[Name], bounds: CpuBounds[Name], begun: float = 0.0
) -> Iterator[None]:
    """Watch a process in a thread while the context lasts, and kill it if it exceeds a limit.

    The limits are those of the running test, of loading, and of the whole process. A test that
    exceeds its limit is noted as `late`.

    begun  CPU seconds that the process had used before
    """
    over = threading.Event()

    def poll_limits() -> None:
        """Compare the process with its limits until it is killed or the context ends."""
        watcher = _LimitWatcher(process, heard, bounds, begun)
        while not over.wait(_POLL_SECONDS):
            if watcher.kill_if_over_limit():
                return

    thread = threading.Thread(target=poll_limits, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class _LimitWatcher(Generic[Name]):
    def __init__(
        self, process: Process, heard: RunProgress[Name], bounds: CpuBounds[Name], begun: float
    ) -> None:
        self._process, self._heard, self._bounds, self._begun = process, heard, bounds, begun
        self._current: Name | None = None
        self._cpu, self._wall = begun, time.monotonic()

    def kill_if_over_limit(self) -> bool:
        """Check the limits once; return whether the process was killed."""
        used = self._process.get_cpu_seconds()
        if used - self._begun > self._bounds.whole:
            self._process.exceeded = self._process.exceeded or 'cpu'
            self._process.kill()
            return True
        running = self._heard.running
        if running != self._current:
            self._current, self._cpu, self._wall = running, used, time.monotonic()
        limit = self._bounds.loading if running is None else self._bounds.tests[running]
        longest = max(limit * self._bounds.wall_per_cpu, self._bounds.least_wall)
        if used - self._cpu <= limit and time.monotonic() - self._wall <= longest:
            return False
        self._heard.late = running
        if running is None:
            self._process.exceeded = self._process.exceeded or self._bounds.loading_is
        self._process.kill()
        return True
