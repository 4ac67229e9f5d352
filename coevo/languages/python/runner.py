"""Run a request in one fresh test process in the sandbox, and read what happened from its channel.

A verdict needs the complete sequence begin, tests, end under the run's nonce, which the test process
does not know: a controller above it says what it hears from it (`inside/controller.py`). A method that
began but did not end is an `error` with the exit status as its signature, or a `timeout`.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coevo.languages.python.events import Heard
from coevo.languages.python.events import HeardTarget
from coevo.languages.python.events import events
from coevo.languages.python.launch import worker_command
from coevo.languages.test_processes import MOST_KILLS
from coevo.languages.test_processes import Bounds
from coevo.languages.test_processes import ending
from coevo.languages.test_processes import send
from coevo.languages.test_processes import watching
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Sandbox

LOADING_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was heard of a process, how it ended, what it cost and wrote."""

    heard: Heard
    status: str
    cpu_seconds: float
    noise: str


def run_request(
    sandbox: Sandbox,
    job: Job,
    request: Mapping[str, Any],
    limits: Sequence[float],
    watched: Mapping[str, int] | None = None,
) -> Done:
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
    return Done(heard=done.heard, status=done.status, cpu_seconds=used, noise=done.noise)


def _run_once(
    sandbox: Sandbox,
    job: Job,
    request: Mapping[str, Any],
    limits: Sequence[float],
    watched: Mapping[str, int] | None,
) -> tuple[Done, bool]:
    nonce = secrets.token_hex(16)
    key = '' if watched is None else secrets.token_hex(16)
    heard = Heard(targets=[HeardTarget() for _ in limits], key=key)
    order = {'nonce': nonce, 'command': worker_command(), 'request': request, 'observed': None}
    if watched is not None:
        lines = [[path, count] for path, count in sorted(watched.items())]
        order['observed'] = {'key': key, 'targets': len(limits), 'lines': lines}
    process = sandbox.start(job)
    try:
        send(process, order)
        with watching(process, heard, bounds(limits)):
            for event in events(process.stdout, nonce):
                heard.hear(event)
        status = ending(process)
        used, noise = process.cpu_seconds(), process.noise()
    finally:
        process.close()
    status = status if process.exceeded or heard.status is None else heard.status
    complete = all(target.ended for target in heard.targets)
    killed = status in KILLED and heard.late is None and not complete
    return Done(heard=heard, status=status, cpu_seconds=used, noise=noise), killed


def bounds(limits: Sequence[float], whole: float = math.inf) -> Bounds[int]:
    """limits, whole  CPU seconds for each target, and for all of them together"""
    return Bounds(tests=dict(enumerate(limits)), loading=LOADING_SECONDS, whole=whole)
