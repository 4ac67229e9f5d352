"""Run a request in one fresh test process in the sandbox, and read what happened from its channel.

A verdict needs the complete sequence begin, tests, end under the run's nonce, which the test process
does not know: a controller above it says what it hears from it (`inside/controller.py`). A method that
began but did not end is an `error` with the exit status as its signature, or a `timeout`.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coevo.languages.python.events import PythonProcessReport, PythonTargetReport, read_events
from coevo.languages.python.launch import make_worker_command
from coevo.languages.test_processes import (
    MOST_KILLS,
    CpuBounds,
    describe_ending,
    send_only_order,
    watch_limits,
)
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job, Sandbox

LOADING_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRunResult:
    """What was heard of a process, how it ended, what it cost and wrote."""

    heard: PythonProcessReport
    status: str
    cpu_seconds: float
    noise: str


def run_request(
    sandbox: Sandbox,
    job: Job,
    request: Mapping[str, Any],
    limits: Sequence[float],
    watched: Mapping[str, int] | None = None,
) -> PythonRunResult:
    """One run; another one if the process was killed, for which nobody's tests need be the reason.

    limits   CPU seconds for each target
    watched  files of which the observer is to see the lines, and how many they have; None: there is
             no observer
    """
    used = 0.0
    for _ in range(MOST_KILLS):
        done, killed = _run_once(sandbox, job, request, limits, watched)
        used += done.cpu_seconds
        if not killed:
            break
    return PythonRunResult(heard=done.heard, status=done.status, cpu_seconds=used, noise=done.noise)


def _run_once(
    sandbox: Sandbox,
    job: Job,
    request: Mapping[str, Any],
    limits: Sequence[float],
    watched: Mapping[str, int] | None,
) -> tuple[PythonRunResult, bool]:
    nonce = secrets.token_hex(16)
    key = '' if watched is None else secrets.token_hex(16)
    heard = PythonProcessReport(targets=[PythonTargetReport() for _ in limits], key=key)
    order = {'nonce': nonce, 'command': make_worker_command(), 'request': request, 'observed': None}
    if watched is not None:
        lines = [[path, count] for path, count in sorted(watched.items())]
        order['observed'] = {'key': key, 'targets': len(limits), 'lines': lines}
    process = sandbox.start(job)
    try:
        send_only_order(process, order)
        with watch_limits(process, heard, make_bounds(limits)):
            for event in read_events(process.stdout, nonce):
                heard.handle_event(event)
        status = describe_ending(process)
        used, noise = process.get_cpu_seconds(), process.get_noise()
    finally:
        process.close()
    status = status if process.exceeded or heard.status is None else heard.status
    complete = all(target.ended for target in heard.targets)
    killed = status in KILLED and heard.late is None and not complete
    return PythonRunResult(heard=heard, status=status, cpu_seconds=used, noise=noise), killed


def make_bounds(limits: Sequence[float], whole: float = math.inf) -> CpuBounds[int]:
    """limits, whole  CPU seconds for each target, and for all of them together"""
    return CpuBounds(tests=dict(enumerate(limits)), loading=LOADING_SECONDS, whole=whole)
