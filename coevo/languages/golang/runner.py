"""Run tests of a compiled package in one fresh process in the sandbox, and read what happened from its channel.

A verdict needs begin and end of a test under the run's nonce, which the test process does not know, and
the exit status: our program above it says what it hears from it (`inside/run.go`).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.languages.golang.channel import Heard
from coevo.languages.golang.channel import HeardTest
from coevo.languages.golang.channel import events
from coevo.languages.test_processes import MOST_KILLS
from coevo.languages.test_processes import Bounds
from coevo.languages.test_processes import ending
from coevo.languages.test_processes import send
from coevo.languages.test_processes import watching
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Sandbox

LOADING_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was heard of a process, how it ended, what it cost and wrote."""

    heard: Heard
    status: str
    cpu_seconds: float
    noise: str


def arguments(names: Sequence[str]) -> list[str]:
    """What a test binary is started with; it has no time limit of its own."""
    chosen = '|'.join(map(re.escape, dict.fromkeys(names)))
    return [f'-test.run=^({chosen})$', '-test.paniconexit0', '-test.timeout=0', '-test.count=1']


def run_tests(
    sandbox: Sandbox, job: Job, order: Mapping[str, object], limits: Mapping[str, float]
) -> Done:
    """One run; another one if the process was killed, for which nobody's tests need be the reason.

    limits  CPU seconds for each test, by name
    """
    used = 0.0
    for _ in range(MOST_KILLS):
        done, killed = _run_once(sandbox, job, order, limits)
        used += done.cpu_seconds
        if not killed:
            break
    return Done(heard=done.heard, status=done.status, cpu_seconds=used, noise=done.noise)


def _run_once(
    sandbox: Sandbox, job: Job, order: Mapping[str, object], limits: Mapping[str, float]
) -> tuple[Done, bool]:
    nonce = secrets.token_hex(16)
    heard = Heard(tests={name: HeardTest() for name in limits})
    bounds = Bounds(tests=limits, loading=LOADING_SECONDS, loading_is='cpu')
    process = sandbox.start(job)
    try:
        send(process, {**order, 'Nonce': nonce})
        with watching(process, heard, bounds):
            for event in events(process.stdout, nonce):
                heard.hear(event)
        status = ending(process)
        used, noise = process.cpu_seconds(), process.noise()
    finally:
        process.close()
    if not process.exceeded and heard.status is not None:
        status = heard.status
    complete = all(one.verdict is not None for one in heard.tests.values())
    killed = status in KILLED and heard.late is None and not complete
    return Done(heard=heard, status=status, cpu_seconds=used, noise=noise), killed
