"""Run test methods in one fresh JVM in the sandbox and read what happened from its channel.

A verdict needs the complete sequence begin, tests, end under the run's nonce. A method that began
but did not end is an `error` with the exit status as its signature, or a `timeout` if it was
killed for time; a method that never began lost its JVM to a neighbour.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from coevo.languages.java.building.session import MOST_KILLS
from coevo.languages.java.observation.observed_run import ObservedRun
from coevo.languages.java.observation.observer import WatchedMethod
from coevo.languages.java.processes.environment import name_withheld_resource
from coevo.languages.java.tools.wire import encode_strings
from coevo.languages.verdicts import KILLED, Verdict, VerdictBatch
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Process, Sandbox

# CPU seconds that a method may use at least; fewer once it has passed, in this pair, and then ten
# times its slowest passing run if that is more. In wall time ten times the first at least, since a
# method that passed may have slept (docs/evidence.md).
LEAST_CPU_LIMIT = 60.0
LEAST_ONCE_PASSED = 15.0
SLOWER_THAN_PASSING = 10
WALL_PER_CPU = 10
_POLL_SECONDS = 0.25
_LAST_WORDS_SECONDS = 10.0

_LINE_BYTES = 1 << 20
_DATA_PARTS = 32  # of a line at most each
_WORST_FIRST = tuple(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """A test method as the worker selects it: on every concrete class that has it.

    expects  class names of throwables that its annotations expect, for `run_observed`
    """

    classes: tuple[str, ...]
    method: str
    parameters: tuple[str, ...]
    cpu_limit: float = LEAST_CPU_LIMIT
    expects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRecording:
    """What agents recorded of one target.

    covered  execution data of JaCoCo, as Base64 for URLs
    entered  lines of CLASS.METHODDESCRIPTOR, internal names
    reached  watched lines that an observer saw reached, by top-level type; None where none was there
    """

    covered: str
    entered: str
    reached: Mapping[str, frozenset[int]] | None = None


@dataclass(slots=True, kw_only=True)
class _TargetEvents:
    """What the channel said of one target."""

    begun: bool = False
    ended: bool = False
    cpu_seconds: float = 0.0
    tests: list[Verdict] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)
    entered: list[str] = field(default_factory=list)


def run_targets(sandbox: Sandbox, job: Job, targets: Sequence[RunTarget]) -> VerdictBatch:
    """Run targets in order in one JVM; `job` starts the worker with its channel on stdout."""
    return _run_job(sandbox, job, targets, lambda process: None)


def run_observed(sandbox: Sandbox, job: Job, targets: Sequence[RunTarget]) -> VerdictBatch:
    """The same for a plan that is `observed`: passes that were not seen are `tampered`."""
    watched = [
        WatchedMethod(target.classes, target.method, target.parameters) for target in targets
    ]
    runs: list[ObservedRun] = []
    batch = _run_job(
        sandbox, job, targets, lambda process: runs.append(ObservedRun(process, watched))
    )
    seen = runs[-1].find_disagreements([target.expects for target in targets])
    verdict_reasons = zip(batch.verdicts, seen, strict=True)
    return replace(
        batch,
        verdicts=tuple(
            replace(verdict, tampered=reason)
            if verdict is not None and verdict.outcome is Outcome.PASS
            else verdict
            for verdict, reason in verdict_reasons
        ),
    )


def run_traced(
    sandbox: Sandbox, job: Job, targets: Sequence[RunTarget]
) -> tuple[list[TargetRecording | None], VerdictBatch]:
    """What the agents of a plan recorded of each target, and how they went.

    None where no test ran, or not to its end.
    """
    heard, batch = _follow_run(sandbox, job, targets, lambda process: None)
    return _collect_recordings(heard), batch


def run_watched(
    sandbox: Sandbox, job: Job, target: RunTarget, lines: Mapping[str, Collection[int]]
) -> tuple[TargetRecording | None, VerdictBatch]:
    """The same for one target of a plan that is `observed`; None also where it was not seen to pass.

    lines  what to watch, as `Observer` has it
    """
    watched = [WatchedMethod(target.classes, target.method, target.parameters)]
    runs: list[ObservedRun] = []

    def start_observer(process: Process) -> None:
        runs.append(ObservedRun(process, watched, lines))

    heard, batch = _follow_run(sandbox, job, [target], start_observer)
    (recorded,), (verdict,) = _collect_recordings(heard), batch.verdicts
    (reason,) = runs[-1].find_disagreements([target.expects])
    if recorded is None or verdict is None or verdict.outcome is not Outcome.PASS or reason:
        return None, batch
    return replace(recorded, reached=runs[-1].find_reached_lines()), batch


def _collect_recordings(heard: Sequence[_TargetEvents]) -> list[TargetRecording | None]:
    return [
        TargetRecording(covered=''.join(target.covered), entered=''.join(target.entered))
        if target.ended and target.tests and target.covered
        else None
        for target in heard
    ]


def _run_job(
    sandbox: Sandbox,
    job: Job,
    targets: Sequence[RunTarget],
    accompany: Callable[[Process], None],
) -> VerdictBatch:
    return _follow_run(sandbox, job, targets, accompany)[1]


def _follow_run(
    sandbox: Sandbox,
    job: Job,
    targets: Sequence[RunTarget],
    accompany: Callable[[Process], None],
) -> tuple[list[_TargetEvents], VerdictBatch]:
    """One run; another one if the process was killed, for which nobody's tests need be the reason.

    Tests that kill their process do so each time.
    """
    used = 0.0
    for _ in range(MOST_KILLS):
        heard, batch, killed = _follow_run_once(sandbox, job, targets, accompany)
        used += batch.cpu_seconds
        if not killed:
            break
    return heard, replace(batch, cpu_seconds=used)


def _follow_run_once(
    sandbox: Sandbox,
    job: Job,
    targets: Sequence[RunTarget],
    accompany: Callable[[Process], None],
) -> tuple[list[_TargetEvents], VerdictBatch, bool]:
    nonce = secrets.token_hex(16)
    process = sandbox.start(job)
    heard = [_TargetEvents() for _ in targets]
    try:
        accompany(process)
        _send_request(process, nonce, targets)
        with _enforce_limits(process, heard, targets) as late:
            for event in _receive_events(process, nonce):
                _record_event(heard, event)
        status, killed = _wait_for_end(process)
        used = process.get_cpu_seconds()
        noise = process.get_noise()
    finally:
        process.close()
    verdicts = tuple(_make_verdicts(heard, late, status, noise))
    lost = killed and not late and not all(target.ended for target in heard)
    return heard, VerdictBatch(verdicts=verdicts, cpu_seconds=used, output=noise), lost


def did_not_start(batch: VerdictBatch) -> bool:
    """Whether nothing was heard of a process at all."""
    return any(
        verdict is not None and verdict.outcome is Outcome.INFRA for verdict in batch.verdicts
    )


def _wait_for_end(process: Process) -> tuple[str, bool]:
    """How it ended (its exit status, or the limit for which it was killed), and whether others killed it.

    Who closes the channel and lives on has nothing more to say.
    """
    if not process.ends_within(_LAST_WORDS_SECONDS):
        process.kill()
        return process.exceeded or f'exit:{process.wait()}', False
    status = process.exceeded or f'exit:{process.wait()}'
    return status, status in KILLED


def encode_request(nonce: str, targets: Sequence[RunTarget]) -> bytes:
    """What the worker reads before it runs the targets."""
    request = [nonce, '0']
    for index, target in enumerate(targets):
        request += [
            str(index),
            ','.join(target.classes),
            target.method,
            ','.join(target.parameters),
        ]
    return encode_strings(request)


def _send_request(process: Process, nonce: str, targets: Sequence[RunTarget]) -> None:
    try:
        process.stdin.write(encode_request(nonce, targets))
        process.stdin.close()
    except BrokenPipeError:
        return  # the JVM ended before it read: its silence is what the verdicts are made from


def _receive_events(process: Process, nonce: str) -> Iterator[dict[str, Any]]:
    """Events under our nonce; anything else on the channel was not written by the worker."""
    prefix = f'{nonce}\t'.encode()
    while line := process.stdout.readline(_LINE_BYTES):
        if line.startswith(prefix):
            try:
                event = json.loads(line[len(prefix) :])
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event


# What the worker may say of a test; anything else was not said by the worker.
_SAID = (Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.SKIPPED, Outcome.COMPILE_ERROR)


def _is_well_formed(event: dict[str, Any]) -> bool:
    """Whether all that is read of an event is what the worker would write."""
    types, numbers = event.get('types', []), (event.get('tests', 0), event.get('cpu_ms', 0))
    texts = (event.get('message'), event.get('frame'), event.get('data'))
    return (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(text is None or isinstance(text, str) for text in texts)
        and isinstance(types, list)
        and all(isinstance(name, str) for name in types)
        and (event.get('e') != 'test' or event.get('outcome') in _SAID)
    )


def _record_event(heard: list[_TargetEvents], event: dict[str, Any]) -> None:
    if not _is_well_formed(event):
        return
    index = event.get('t')
    if not isinstance(index, int) or not 0 <= index < len(heard):
        return
    target = heard[index]
    match event.get('e'):
        case 'begin':
            target.begun = True
        case 'test' if target.begun:
            target.tests.append(_make_test_verdict(event))
        case 'covered' if target.begun and len(target.covered) < _DATA_PARTS:
            target.covered.append(event.get('data') or '')
        case 'entered' if target.begun and len(target.entered) < _DATA_PARTS:
            target.entered.append(event.get('data') or '')
        case 'end' if target.begun:
            target.ended = event.get('tests') == len(target.tests)
            target.cpu_seconds = event.get('cpu_ms', 0) / 1000


def _make_test_verdict(event: dict[str, Any]) -> Verdict:
    types = tuple(event.get('types', ()))
    outcome = Outcome(event['outcome'])
    signature = None
    if outcome.is_broken:
        signature = f'{types[0] if types else "?"}@{event.get("frame") or "?"}'
    return Verdict(
        outcome=outcome,
        signature=signature,
        exceptions=types,
        message=event.get('message') or '',
        environment=name_withheld_resource(types, event.get('message') or '')
        if outcome.is_broken
        else None,
    )


def _make_verdicts(
    heard: Sequence[_TargetEvents], late: set[int], status: str, noise: str
) -> Iterator[Verdict | None]:
    silent = not any(target.begun for target in heard)
    for index, target in enumerate(heard):
        unfinished = target.begun and not target.ended
        if index in late or (unfinished and status in ('cpu', 'wall')):
            yield Verdict(outcome=Outcome.TIMEOUT, signature='time')
        elif unfinished:
            yield Verdict(outcome=Outcome.ERROR, signature=status)
        elif target.ended:
            yield _find_worst_verdict(target)
        elif silent and index == 0:
            yield Verdict(outcome=Outcome.INFRA, signature='no_start', message=noise[-300:])
        else:
            yield None


def _find_worst_verdict(target: _TargetEvents) -> Verdict:
    """The worst over subclasses and invocations; none at all is `missing`."""
    if not target.tests:
        return Verdict(outcome=Outcome.MISSING, cpu_seconds=target.cpu_seconds)
    worst = min(
        target.tests, key=lambda test: (_WORST_FIRST.index(test.outcome), test.signature or '')
    )
    return dataclasses.replace(worst, cpu_seconds=target.cpu_seconds)


@contextmanager
def _enforce_limits(
    process: Process, heard: Sequence[_TargetEvents], targets: Sequence[RunTarget]
) -> Iterator[set[int]]:
    """Kill the process when the method that runs is over its limit; the set names that method."""
    late: set[int] = set()
    over = threading.Event()

    def kill_when_late() -> None:
        current, cpu, wall = -1, 0.0, time.monotonic()
        while not over.wait(_POLL_SECONDS):
            running = next((i for i, t in enumerate(heard) if t.begun and not t.ended), -1)
            if running != current:
                current, cpu, wall = running, process.get_cpu_seconds(), time.monotonic()
            limit = targets[current].cpu_limit if current >= 0 else LEAST_CPU_LIMIT
            spent = process.get_cpu_seconds() - cpu
            longest = max(limit, LEAST_CPU_LIMIT) * WALL_PER_CPU
            if spent > limit or time.monotonic() - wall > longest:
                late.update({current} - {-1})
                process.kill()
                return

    thread = threading.Thread(target=kill_when_late, daemon=True)
    thread.start()
    try:
        yield late
    finally:
        over.set()
        thread.join()
