"""Run tests of a compiled package in one fresh process in the sandbox, and read what happened from its channel.

A verdict needs begin and end of a test under the run's nonce, which the test process does not know, and
the exit status: our program above it says what it hears from it (`inside/run.go`).
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from coevo.languages.golang.channel import Heard
from coevo.languages.golang.channel import HeardTest
from coevo.languages.golang.channel import events
from coevo.languages.verdicts import KILLED
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Process
from coevo.sandboxes.sandbox import Sandbox

# As in Java (docs/evidence.md).
LEAST_CPU_LIMIT = 60.0
SLOWER_THAN_PASSING = 10
WALL_PER_CPU = 10
MOST_KILLS = 5
LOADING_SECONDS = 120.0

_POLL_SECONDS = 0.25
_LAST_WORDS_SECONDS = 30.0


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
    process = sandbox.start(job)
    try:
        _send(process, {**order, 'Nonce': nonce})
        with _watching(process, heard, limits):
            for event in events(process.stdout, nonce):
                heard.hear(event)
        status = _ending(process)
        used, noise = process.cpu_seconds(), process.noise()
    finally:
        process.close()
    if not process.exceeded and heard.status is not None:
        status = heard.status
    complete = all(one.verdict is not None for one in heard.tests.values())
    killed = status in KILLED and heard.late is None and not complete
    return Done(heard=heard, status=status, cpu_seconds=used, noise=noise), killed


def _send(process: Process, order: Mapping[str, object]) -> None:
    try:
        process.stdin.write(process.inside(json.dumps(order)).encode() + b'\n')
        process.stdin.close()
    except BrokenPipeError:
        return  # it ended before it read: its silence is what the verdicts are made from


def _ending(process: Process) -> str:
    """Its exit status, or the limit for which it was killed."""
    if not process.ended_within(_LAST_WORDS_SECONDS):
        process.kill()
        return process.exceeded or 'exit:0'
    return process.exceeded or f'exit:{process.wait()}'


@contextmanager
def _watching(process: Process, heard: Heard, limits: Mapping[str, float]) -> Iterator[None]:
    """Kill the process when the test that runs is over its limit, and note which one that was."""
    over = threading.Event()

    def watch() -> None:
        current: str | None = None
        cpu, wall = 0.0, time.monotonic()
        while not over.wait(_POLL_SECONDS):
            used, running = process.cpu_seconds(), heard.running
            if running != current:
                current, cpu, wall = running, used, time.monotonic()
            limit = limits[current] if current is not None else LOADING_SECONDS
            if used - cpu > limit or time.monotonic() - wall > limit * WALL_PER_CPU:
                heard.late = current
                if current is None:  # before any test, or after the last one
                    process.exceeded = process.exceeded or 'cpu'
                process.kill()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
