"""Test processes in the sandbox: asked, watched while they tell of their tests, and how they ended."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from coevo.sandboxes.sandbox import Process

# As in Java (docs/evidence.md).
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
    """What is heard of a process.

    running  the test that has begun and not ended
    late     the one for which it was killed
    """

    @property
    def running(self) -> Name | None: ...

    late: Name | None


class RunEventListener(RunProgress[Name], Protocol[Name]):
    """over  whether a session has told all of a run"""

    over: bool

    def handle_event(self, event: dict[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuBounds(Generic[Name]):
    """CPU seconds that a process may use; ten times that in wall time, unless it is told otherwise.

    tests       by test
    loading     before the first, and after the last
    whole       all in all, where the process itself has no such limit
    loading_is  what a process is told to have exceeded that was loading for too long
    least_wall  wall seconds that a test may take at least
    """

    tests: Mapping[Name, float]
    loading: float
    whole: float = math.inf
    loading_is: str | None = None
    wall_per_cpu: float = WALL_PER_CPU
    least_wall: float = 0.0


def send_only_order(process: Process, order: str) -> None:
    """An order that is its only one."""
    text = process.translate_for_job(order)
    try:
        process.stdin.write(text.encode(errors='surrogateescape') + b'\n')
        process.stdin.close()
    except BrokenPipeError:
        return  # it ended before it read: its silence is what the verdicts are made from


def send_order_parts(process: Process, *parts: bytes) -> None:
    """One order of several; what has ended says nothing to it."""
    try:
        for part in parts:
            process.stdin.write(part)
        process.stdin.flush()
    except BrokenPipeError:
        return


def dismiss_process(process: Process) -> None:
    """End what waits for orders, by itself if it will: of what is killed nobody knows all costs."""
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.ends_within(_LEAVING_SECONDS)
    process.close()


def describe_ending(process: Process) -> str:
    """Its exit status, or the limit for which it was killed."""
    if not process.ends_within(_LAST_WORDS_SECONDS):
        process.kill()
        return process.exceeded or 'exit:0'
    return process.exceeded or f'exit:{process.wait()}'


def read_noise_between(process: Process, mark: str) -> str:
    """What was written to standard error between two lines that are a mark, without what stands around them."""
    end = time.monotonic() + _NOISE_SECONDS
    while (noise := process.get_noise()).count(mark) < 2 and time.monotonic() < end:
        if process.poll() is not None or noise.rstrip().endswith(mark):
            break  # nothing more comes; or so much was written that its beginning is gone
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
    """Whether a session told all of a run; else the process has ended, or was killed. `begun` as `watch_limits` has it."""
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
    """Kill the process when the test that runs is over its limit, and note which one that was.

    begun  CPU seconds that the process had used before
    """
    over = threading.Event()

    def poll_limits() -> None:
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
        """Look once; whether it was killed."""
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
