"""Runs tests by one order to a fresh process in the sandbox, and collects its report.

The code under test cannot write the report: a program of coevo's above it does, under a nonce that
the code does not know.
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
    send_only_order,
    wait_and_describe_ending,
    watch_limits,
)
from coevo.languages.verdicts import KILLED, Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Sandbox


class ProcessReport(RunEventListener[Any], Protocol):
    """The report on a test process.

    started  whether coevo's program in the sandbox started
    status   how the test process ended, as that program saw it
    is_ready_for_another_run    whether a session is ready for another run
    """

    @property
    def started(self) -> bool:
        """True if coevo's program in the sandbox started."""

    @property
    def status(self) -> str | None:
        """The ending of the test process as that program saw it; None if it did not report it."""

    @property
    def is_ready_for_another_run(self) -> bool:
        """True if a session is ready for another run."""

    @property
    def is_complete(self) -> bool:
        """True if all tests were reported to their ends."""

    @property
    def is_refused_for_good(self) -> bool:
        """True if no session of this kind accepts any run."""

    def is_report_decisive(self, status: str, *, over: bool) -> bool:
        """Return whether the report of a session decides, so that no fresh process is needed.

        status  how the process ended; '' if it goes on
        over    whether the session has reported all of the run
        """


Report = TypeVar('Report', bound=ProcessReport)
Report_co = TypeVar('Report_co', bound=ProcessReport, covariant=True)


class TestRun(Protocol[Report_co]):
    """The tests that a process must run, with their limits."""

    @property
    def bounds(self) -> CpuBounds[Any]:
        """The CPU seconds that its tests may use."""

    @property
    def line_bytes(self) -> int:
        """The maximal length of a line on the channel, in bytes."""

    @property
    def most_cpu_seconds(self) -> float:
        """The CPU seconds for the whole run."""

    def make_report(self, key: str) -> Report_co:
        """Return an empty report, which is to receive the events of the run.

        key  authenticates the events that no test may forge
        """

    def make_run_order(self, nonce: str, key: str) -> str:
        """Return the order to a fresh process for this run alone, without the end of the line.

        nonce  must precede each event of the run
        key    authenticates the events that no test may forge
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Generic[Report]):
    """The report on a process (`heard`), its ending, its CPU time and its output (`noise`)."""

    heard: Report
    status: str
    cpu_seconds: float
    noise: str

    @property
    def is_killed_from_outside(self) -> bool:
        """True if the process was killed, but not by a limit, before it reported all tests."""
        return is_killed_from_outside(self.heard, self.status)


def is_killed_from_outside(heard: ProcessReport, status: str) -> bool:
    """Return whether a process was killed, but not by a limit, before it reported all tests."""
    return status in KILLED and heard.late is None and not heard.is_complete


def repeat_while_killed(run_once: Callable[[], RunResult[Report]]) -> RunResult[Report]:
    """Run tests; run them again while their process is killed without exceeding a limit.

    A kill need not be the tests' fault. Tests that kill their own process do so each time, so there
    are at most five attempts, of which the last counts. CPU seconds are those of all attempts.
    """
    used = 0.0
    for _ in range(MOST_KILLS):
        done = run_once()
        used += done.cpu_seconds
        if not done.is_killed_from_outside:
            break
    return replace(done, cpu_seconds=used)


def run_in_fresh_process(sandbox: Sandbox, job: Job, run: TestRun[Report]) -> RunResult[Report]:
    """Run tests in a new process in the sandbox and return the result.

    The run is repeated while its process is killed without exceeding a limit.
    """
    return repeat_while_killed(lambda: _run_once(sandbox, job, run))


def _run_once(sandbox: Sandbox, job: Job, run: TestRun[Report]) -> RunResult[Report]:
    nonce, key = (secrets.token_hex(16) for _ in range(2))
    heard = run.make_report(key)
    process = sandbox.start(job)
    try:
        send_only_order(process, run.make_run_order(nonce, key))
        with watch_limits(process, heard, run.bounds):
            for event in read_events(process.stdout, nonce, run.line_bytes):
                heard.handle_event(event)
        status = wait_and_describe_ending(process)
        used, noise = process.get_cpu_seconds(), process.get_last_error_output()
    finally:
        process.close()
    status = status if process.exceeded or heard.status is None else heard.status
    return RunResult(heard=heard, status=status, cpu_seconds=used, noise=noise)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingTimes:
    """The longest CPU time in seconds of each test that has passed, for one pair."""

    _slowest: dict[TestMethod, float] = field(default_factory=dict)

    def choose_cpu_limit(self, method: TestMethod) -> float:
        """Return the CPU limit of a test in seconds: ten times its slowest pass, at least 60."""
        return max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self._slowest.get(method, 0.0))

    def note(self, method: TestMethod, verdict: Verdict | None) -> None:
        """Remember the CPU time of a test if its verdict is a pass; ignore any other verdict."""
        if verdict is not None and verdict.outcome is Outcome.PASS:
            self._slowest[method] = max(self._slowest.get(method, 0.0), verdict.cpu_seconds)
