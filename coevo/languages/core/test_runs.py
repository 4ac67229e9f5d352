"""One order to run tests, given to a fresh process in the sandbox, and what was heard of it.

The code under test says nothing of this by itself: a program of ours above it tells, under a nonce that it does not
know, what it hears from it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from coevo.languages.core.channel import read_events
from coevo.languages.core.test_processes import (
    LEAST_CPU_LIMIT,
    MOST_KILLS,
    SLOWER_THAN_PASSING,
    CpuBounds,
    RunEventListener,
    describe_ending,
    send_only_order,
    watch_limits,
)
from coevo.languages.verdicts import KILLED, Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Sandbox


class ProcessReport(RunEventListener[Any], Protocol):
    """What was said of a process.

    started  whether our program was there
    status   how the test process ended, as our program saw it
    again    whether a session is ready for a next run
    """

    @property
    def started(self) -> bool: ...

    @property
    def status(self) -> str | None: ...

    @property
    def again(self) -> bool: ...

    @property
    def is_complete(self) -> bool:
        """Whether all tests were told to their ends."""

    @property
    def is_refused_for_good(self) -> bool:
        """Whether no session of its kind takes any run."""

    def settles_run(self, status: str, *, over: bool) -> bool:
        """Whether what a session told needs no process of its own to be decided."""


Report = TypeVar('Report', bound=ProcessReport)
Report_co = TypeVar('Report_co', bound=ProcessReport, covariant=True)


class TestRun(Protocol[Report_co]):
    """What a process is asked to run."""

    @property
    def bounds(self) -> CpuBounds[Any]: ...

    @property
    def line_bytes(self) -> int:
        """How long a line of the channel may be that is read."""

    @property
    def most_cpu_seconds(self) -> float:
        """For all that it runs."""

    def make_report(self, key: str) -> Report_co:
        """A report that nothing was said for yet; key: under which our program says what no test may."""

    def make_order(self, nonce: str, key: str) -> str:
        """The order to a process of its own; its line is ended by who sends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Generic[Report]):
    """What was heard of a process, how it ended, what it cost and wrote."""

    heard: Report
    status: str
    cpu_seconds: float
    noise: str

    @property
    def is_killed(self) -> bool:
        """Whether somebody killed it before all was said."""
        return is_killed(self.heard, self.status)


def is_killed(heard: ProcessReport, status: str) -> bool:
    """Whether somebody killed a process before it said all."""
    return status in KILLED and heard.late is None and not heard.is_complete


def repeat_while_killed(run_once: Callable[[], RunResult[Report]]) -> RunResult[Report]:
    """One run; another one if the process was killed, for which nobody's tests need be the reason: tests that kill
    their process do so each time."""
    used = 0.0
    for _ in range(MOST_KILLS):
        done = run_once()
        used += done.cpu_seconds
        if not done.is_killed:
            break
    return replace(done, cpu_seconds=used)


def run_in_fresh_process(sandbox: Sandbox, job: Job, run: TestRun[Report]) -> RunResult[Report]:
    """One run in a sandbox of its own, and others while somebody kills it."""
    return repeat_while_killed(lambda: _run_once(sandbox, job, run))


def _run_once(sandbox: Sandbox, job: Job, run: TestRun[Report]) -> RunResult[Report]:
    nonce, key = (secrets.token_hex(16) for _ in range(2))
    heard = run.make_report(key)
    process = sandbox.start(job)
    try:
        send_only_order(process, run.make_order(nonce, key))
        with watch_limits(process, heard, run.bounds):
            for event in read_events(process.stdout, nonce, run.line_bytes):
                heard.handle_event(event)
        status = describe_ending(process)
        used, noise = process.get_cpu_seconds(), process.get_noise()
    finally:
        process.close()
    status = status if process.exceeded or heard.status is None else heard.status
    return RunResult(heard=heard, status=status, cpu_seconds=used, noise=noise)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingTimes:
    """How long tests took at most that have passed; CPU seconds, of one pair."""

    _slowest: dict[TestMethod, float] = field(default_factory=dict)

    def choose_cpu_limit(self, method: TestMethod) -> float:
        """Ten times its slowest passing run, or what any test may use."""
        return max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self._slowest.get(method, 0.0))

    def note(self, method: TestMethod, verdict: Verdict | None) -> None:
        """Remember how long a test took, if it has passed."""
        if verdict is not None and verdict.outcome is Outcome.PASS:
            self._slowest[method] = max(self._slowest.get(method, 0.0), verdict.cpu_seconds)
