"""A JVM in a sandbox that builds revisions and compiles test trees, one at a time, and the result
of all tries to build.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from coevo.languages.java.tools.wire import WireError, receive_response, send_request
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job, Process, Sandbox

# No memory leak was seen in sixty builds; longer runs were not examined.
REQUESTS_PER_JVM = 60

# The limit for the files of one build: class files and resources of all modules.
RESPONSE_BYTES = 1 << 30

# CPU seconds for one request, by its kind. Healthy builds take up to 200 seconds, compilations 60.
# A request that takes more is considered endless, with the verdict `builder_cpu` or `compiler_cpu`.
CPU_SECONDS = {'build': 600.0, 'resolve': 600.0, 'compile': 180.0, 'check': 180.0}
_OTHER_CPU_SECONDS = 600.0

# Reasons for ending a builder whose request took too much wall time or CPU time.
TOO_LONG = ('time', 'cpu')

# Statuses with which the builder reports that the request failed, not the code it was about.
FATAL_STATUS = ('crashed', 'out_of_memory')

# After so many kills in a row, the request itself must be the cause: a shortage of memory on the
# machine would have ended by then.
MOST_KILLS = 5
_LAST_WORDS_SECONDS = 2.0

_MOST_CROWDED = 6.0
_STEPS, _MOST_STEP_SECONDS = 100, 2.0  # the countdown of a request's time runs in these steps


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmDeath:
    """The JVM ended, or was ended, before it answered."""

    reason: str  # time, cpu, exit:N, or one of `FATAL_STATUS`
    noise: str
    killed: bool = False  # by another process


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmAnswer:
    """The JSON report of a request, the paths of its files, and the CPU seconds used."""

    report: dict[str, Any]
    files: tuple[str, ...]
    cpu_seconds: float


class JvmSession:
    """A builder's JVM in a sandbox that answers requests, started by the first one.

    It is started again after `REQUESTS_PER_JVM` requests and after a death. `job` is called
    whenever a JVM is started. `seconds` limits the wall time of each request.
    """

    def __init__(self, sandbox: Sandbox, job: Callable[[], Job], *, seconds: float) -> None:
        self._sandbox, self._job, self._seconds = sandbox, job, seconds
        self._process: Process | None = None
        self._served = 0

    @property
    def is_fresh(self) -> bool:
        """True if the next request is the first one of its JVM."""
        return self._process is None or self._served in (0, REQUESTS_PER_JVM)

    def ask(self, request: Sequence[str], folder: Path) -> JvmAnswer | JvmDeath:
        """Send one request and return the answer, or a `JvmDeath` if the JVM ended or was too slow.

        `folder` is emptied first and then gets the files of the answer. If another process killed
        the JVM, the request is repeated, up to MOST_KILLS tries.
        """
        for _ in range(MOST_KILLS):
            answer = self._ask_once(request, folder)
            if not (isinstance(answer, JvmDeath) and answer.killed):
                break
        return answer

    def _ask_once(self, request: Sequence[str], folder: Path) -> JvmAnswer | JvmDeath:
        process = self._ensure_running()
        process.resume_sampling_and_limits()
        before = process.get_cpu_seconds()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        most = before + CPU_SECONDS.get(request[0], _OTHER_CPU_SECONDS)
        with _enforce_deadline(process, self._seconds, most) as expired:
            try:
                send_request(
                    process.stdin, [process.translate_paths_for_job(text) for text in request]
                )
                value, files = receive_response(process.stdout, folder, limit=RESPONSE_BYTES)
            except (WireError, OSError):
                return self._kill_and_describe_death(process, expired[0] if expired else None)
            except BaseException:
                # a part of an answer may be unread, and the next request must not get it
                self.close()
                raise
        self._served += 1
        used = process.get_cpu_seconds() - before
        process.sample_usage_rarely()
        report = cast('dict[str, Any]', _restore_paths(value, process))
        if report.get('status') in FATAL_STATUS:
            self.close()
            return JvmDeath(reason=report['status'], noise=str(report.get('log', '')))
        return JvmAnswer(report=report, files=files, cpu_seconds=used)

    def close(self) -> None:
        """End the JVM if one is running."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ensure_running(self) -> Process:
        if self._process is not None and self._served >= REQUESTS_PER_JVM:
            self.close()
        if self._process is None or self._process.poll() is not None:
            self._process = self._sandbox.start(self._job())
            self._served = 0
        return self._process

    def _kill_and_describe_death(self, process: Process, late: str | None) -> JvmDeath:
        lingered = not process.ends_within(_LAST_WORDS_SECONDS)
        process.kill()
        status = process.wait(timeout=10)
        self._process = None
        reason = late or ('time' if process.exceeded else f'exit:{status}')
        noise = process.get_last_error_output()
        process.close()
        return JvmDeath(reason=reason, noise=noise, killed=not lingered and reason in KILLED)


def _restore_paths(value: object, process: Process) -> object:
    """Return a report with each path of the job replaced by the path that coevo knows it by."""
    if isinstance(value, str):
        return process.translate_paths_from_job(value)
    if isinstance(value, list):
        return [_restore_paths(item, process) for item in value]
    if isinstance(value, dict):
        return {name: _restore_paths(item, process) for name, item in value.items()}
    return value


@contextmanager
def _enforce_deadline(process: Process, seconds: float, cpu_seconds: float) -> Iterator[list[str]]:
    """Kill the process while the context is open if it uses up its wall time or CPU time.

    The yielded list then holds `time` or `cpu`; else it stays empty. `cpu_seconds` is the total
    since the process started. The wall time runs more slowly if the machine's load exceeds its
    processors: a build that gets a tenth of a processor is not hanging.
    """
    expired: list[str] = []
    over = threading.Event()

    def kill_when_expired() -> None:
        """Count down the wall time and check the CPU time until the request is over."""
        step, left = min(_MOST_STEP_SECONDS, seconds / _STEPS), seconds
        while not over.wait(step):
            left -= step / compute_crowding(os.getloadavg()[0], len(os.sched_getaffinity(0)))
            used_up = process.get_cpu_seconds() > cpu_seconds
            if left <= 0 or used_up:
                expired.append('cpu' if used_up else 'time')
                process.kill()
                return

    threading.Thread(target=kill_when_expired, daemon=True).start()
    try:
        yield expired
    finally:
        over.set()


def compute_crowding(load: float, processors: int) -> float:
    """Return the load per processor, but at least 1 and at most 6.

    The upper limit makes sure that a hanging process is ended eventually.
    """
    return min(_MOST_CROWDED, max(1.0, load / processors))


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildAttempt:
    """The answer of the build that counts, its builder's name, and the CPU seconds of all tries.

    overrides  names of the changes to the revision's build files with which it was built
    rewritten  the build files with these changes, by path in the tree
    """

    answer: JvmAnswer | JvmDeath
    builder: str
    cpu_seconds: float
    overrides: tuple[str, ...] = ()
    rewritten: Mapping[str, bytes] = field(default_factory=dict)


def get_cpu_seconds(answer: JvmAnswer | JvmDeath) -> float:
    """Return the CPU seconds of an answer; 0 if the JVM died."""
    return 0.0 if isinstance(answer, JvmDeath) else answer.cpu_seconds
