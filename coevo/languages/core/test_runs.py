"""Runs tests by one order to a process in the sandbox: a fresh one, or one of a sandbox that stays
open.

The code under test cannot write the report: a program of coevo's above it does, under a nonce that
the code does not know.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from coevo.languages.core.channel import read_events
from coevo.languages.core.test_processes import (
    LEAST_CPU_LIMIT,
    MOST_KILLS,
    SLOWER_THAN_PASSING,
    CpuBounds,
    RunEventListener,
    dismiss_process,
    listen_until_over,
    read_error_output_between_marks,
    send_only_order,
    send_order_parts,
    wait_and_describe_ending,
    watch_limits,
)
from coevo.languages.verdicts import KILLED, Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.names import BUBBLEWRAP
from coevo.sandboxes.sandbox import Job, Process, Sandbox

# Runs tests by one order to a fresh process in the sandbox, and collects its report.


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


_LEAST_LOADING = 20.0


@dataclass(slots=True, kw_only=True)
class PassingTimes:
    """The longest CPU time in seconds of each test that has passed, for one pair.

    slowest_process  the longest CPU time of a process with a test that has passed, for languages
                     that limit the time before the first test; None if none is noted
    """

    slowest_process: float | None = None
    _slowest: dict[TestMethod, float] = field(default_factory=dict)

    def choose_cpu_limit(self, method: TestMethod) -> float:
        """Return the CPU limit of a test in seconds: ten times its slowest pass, at least 60."""
        return max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self._slowest.get(method, 0.0))

    def find_slowest_pass(self, method: TestMethod) -> float | None:
        """Return the longest CPU time in seconds of a test's passes; None if none is noted."""
        return self._slowest.get(method)

    def choose_loading_limit(self, usual: float) -> float:
        """Return the CPU limit before the first test, for code that is edited to fail.

        It is ten times the slowest process with a pass, at least 20 seconds and at most `usual`:
        a mutant may never end while the code is loaded.
        """
        if self.slowest_process is None:
            return usual
        return min(usual, max(_LEAST_LOADING, SLOWER_THAN_PASSING * self.slowest_process))

    def note_process(self, cpu_seconds: float) -> None:
        """Remember the CPU time of a process in which a test has passed."""
        self.slowest_process = max(self.slowest_process or 0.0, cpu_seconds)

    def note(self, method: TestMethod, verdict: Verdict | None) -> None:
        """Remember the CPU time of a test if its verdict is a pass; ignore any other verdict."""
        if verdict is not None and verdict.outcome is Outcome.PASS:
            self.note_seconds(method, verdict.cpu_seconds)

    def note_seconds(self, method: TestMethod, cpu_seconds: float) -> None:
        """Remember the CPU time of a pass of a test."""
        self._slowest[method] = max(self._slowest.get(method, 0.0), cpu_seconds)


# Runs tests in sandboxes that stay open for further runs; the least recently used is closed first.
#
# If a session gives no reliable result, a fresh process in a sandbox of its own decides. That is so
# if the run did not go to its end, if the process was killed from outside, or if the session
# refuses the run.

# CPU and wall seconds for all runs of a session.
SESSION_SECONDS = 30 * 86400.0

Run_contra = TypeVar('Run_contra', bound=TestRun[Any], contravariant=True)
Run = TypeVar('Run', bound=TestRun[Any])
Key = TypeVar('Key', bound=Hashable)


class SessionOrders(Protocol[Run_contra]):
    """The job that starts one session of a language, and the orders for its runs."""

    def make_session_job(self) -> Job:
        """Return the job that starts the session, with its channel on standard output."""

    def make_session_head(self) -> bytes:
        """Return what the session reads from its standard input before the first run."""

    def make_session_order(
        self, run: Run_contra, nonce: str, key: str, mark: str
    ) -> Sequence[bytes]:
        """Return the order for one run, in parts that are sent one after the other.

        nonce  must precede each event of the run
        key    authenticates the events that no test may forge
        mark   the process must print it on a line before and after all that the run writes to
               standard error
        """


class Sessions(Generic[Key, Run, Report]):
    """The open sessions of one thread, for one repository, each under a key.

    A session is a sandbox with a process that runs tests several times. At most `most` are open at
    once; the least recently used is closed first.
    """

    def __init__(self, sandbox: Sandbox, most: int) -> None:
        self._sandbox, self._most = sandbox, most
        self._open: dict[Key, _Session[Run, Report]] = {}
        self._refused: set[Key] = set()

    def run_in_session_counting_cpu_seconds(
        self, key: Key, run: Run, make_orders: Callable[[], SessionOrders[Run]]
    ) -> tuple[RunResult[Report] | None, float]:
        """Run tests in the session of a key; start one if none is open or the open one is over.

        Returns the result and the CPU seconds spent. The result is None if a fresh process must
        decide: the run did not go to its end, the session refuses it, or the sandbox is not
        Bubblewrap.
        """
        if key in self._refused or self._sandbox.name != BUBBLEWRAP:
            return None, 0.0
        spent = 0.0
        session = self._open.pop(key, None)
        if session is not None:
            done, spent = session.run_counting_cpu_seconds(run)
            if session.started:
                self._keep_or_close(key, session)
                return done, spent
            session.close()
        while len(self._open) >= self._most:
            self._open.pop(next(iter(self._open))).close()
        session = _Session(self._sandbox, make_orders())
        done, more = session.run_counting_cpu_seconds(run)
        if session.refuses_all:
            self._refused.add(key)
        self._keep_or_close(key, session)
        return done, spent + more

    def close(self) -> None:
        """Close all open sessions."""
        while self._open:
            self._open.popitem()[1].close()

    def _keep_or_close(self, key: Key, session: _Session[Run, Report]) -> None:
        if session.goes_on:
            session.stop_watching_until_next_run()
            self._open[key] = session  # the last entry is the most recently used
        else:
            session.close()


class _Session(Generic[Run, Report]):
    """An open session.

    started      whether it accepted the last run
    goes_on      whether it can accept another run
    refuses_all  whether it reported on its last run that it refuses every run
    """

    def __init__(self, sandbox: Sandbox, orders: SessionOrders[Run]) -> None:
        self._orders = orders
        self._process: Process = sandbox.start(orders.make_session_job())
        self._used = 0.0
        self.started = self.goes_on = self.refuses_all = False
        send_order_parts(self._process, orders.make_session_head())

    def run_counting_cpu_seconds(self, run: Run) -> tuple[RunResult[Report] | None, float]:
        """Run tests in the session, and set `started`, `goes_on` and `refuses_all`.

        Returns the result, or None if the run did not go to its end, and the CPU seconds since the
        last run.
        """
        nonce, key, mark = (secrets.token_hex(16) for _ in range(3))
        heard: Report = run.make_report(key)
        self._process.resume_sampling_and_limits()
        order = self._orders.make_session_order(run, nonce, key, mark)
        send_order_parts(self._process, *order)
        stream = read_events(self._process.stdout, nonce, run.line_bytes)
        bounds = replace(run.bounds, whole=run.most_cpu_seconds)
        over = listen_until_over(self._process, stream, heard, bounds, self._used)
        self.refuses_all = heard.is_refused_for_good
        self.started, self.goes_on = (
            heard.started,
            heard.is_ready_for_another_run and not self.refuses_all,
        )
        status = (heard.status or '') if over else wait_and_describe_ending(self._process)
        spent = self._process.get_cpu_seconds() - self._used
        self._used += spent
        if not heard.is_report_decisive(status, over=over):
            return None, spent
        noise = read_error_output_between_marks(self._process, mark)
        return RunResult(heard=heard, status=status, cpu_seconds=spent, noise=noise), spent

    def stop_watching_until_next_run(self) -> None:
        """Stop watching the process until the next run."""
        self._process.pause_sampling_and_limits()

    def close(self) -> None:
        """End the process; it may end by itself first."""
        dismiss_process(self._process)
