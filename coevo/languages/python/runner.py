"""Run a request in one fresh test process in the sandbox, and read what happened from its channel.

A verdict needs the complete sequence begin, tests, end under the run's nonce, which the test process
does not know: a controller above it says what it hears from it (`inside/controller.py`). A method that
began but did not end is an `error` with the exit status as its signature, or a `timeout`.
"""

from __future__ import annotations

import json
import math
import secrets
import threading
import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from coevo.languages.python.events import Heard
from coevo.languages.python.events import HeardTarget
from coevo.languages.python.events import events
from coevo.languages.python.launch import worker_command
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Process
from coevo.sandboxes.sandbox import Sandbox

# As in Java (docs/evidence.md).
LEAST_CPU_LIMIT = 60.0
SLOWER_THAN_PASSING = 10
WALL_PER_CPU = 10
MOST_KILLS = 5
LOADING_SECONDS = 300.0

_POLL_SECONDS = 0.25
_LAST_WORDS_SECONDS = 30.0


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
        _send(process, order)
        with watching(process, heard, limits):
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


def _send(process: Process, order: Mapping[str, Any]) -> None:
    line = process.inside(json.dumps(order)) + '\n'
    try:
        process.stdin.write(line.encode())
        process.stdin.close()
    except BrokenPipeError:
        return  # it ended before it read: its silence is what the verdicts are made from


def ending(process: Process) -> str:
    """Its exit status, or the limit for which it was killed."""
    if not process.ended_within(_LAST_WORDS_SECONDS):
        process.kill()
        return process.exceeded or 'exit:0'
    return process.exceeded or f'exit:{process.wait()}'


@contextmanager
def watching(
    process: Process,
    heard: Heard,
    limits: Sequence[float],
    begun: float = 0.0,
    whole: float = math.inf,
) -> Iterator[None]:
    """Kill the process when the method that runs is over its limit, and note which one that was.

    begun  CPU seconds that the process had used before
    whole  CPU seconds of all methods, where the process itself has no such limit
    """
    over = threading.Event()

    def watch() -> None:
        current: int | None = None
        cpu, wall = begun, time.monotonic()
        while not over.wait(_POLL_SECONDS):
            used = process.cpu_seconds()
            if used - begun > whole:
                process.exceeded = process.exceeded or 'cpu'
                process.kill()
                return
            running = heard.running
            if running != current:
                current, cpu, wall = running, used, time.monotonic()
            limit = limits[current] if current is not None else LOADING_SECONDS
            spent = used - cpu
            if spent > limit or time.monotonic() - wall > limit * WALL_PER_CPU:
                heard.late = current
                process.kill()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
