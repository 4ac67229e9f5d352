"""Run test methods in one new JVM in the sandbox, read the results from its channel, and observe
them.

A verdict needs the complete sequence begin, tests, end under the run's nonce. A method that began
but did not end is an `error` with the exit status as its signature, or a `timeout` if it was killed
for exceeding a limit. A method that never began lost its JVM to another method.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coevo.git.process import CorruptObject
from coevo.languages.core.channel import NumberedReport, TargetReport, read_events
from coevo.languages.core.test_processes import (
    LEAST_CPU_LIMIT,
    MOST_KILLS,
    WALL_PER_CPU,
    CpuBounds,
    watch_limits,
)
from coevo.languages.java.building.compilation import VIA
from coevo.languages.java.observation.observer import (
    Observer,
    WatchedMethod,
    explain_unconfirmed_pass,
)
from coevo.languages.java.processes.packed_trees import GuardedJob, KeyedStream
from coevo.languages.java.processes.workarounds import name_withheld_resource
from coevo.languages.java.tools.wire import encode_strings
from coevo.languages.verdicts import KILLED, UNOBSERVED, Verdict, VerdictBatch
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Process, Sandbox

# An observer beside a running test process, and its judgement on the reported passes.

_ACCEPT_SECONDS = 0.5


class ObservedRun:
    """The observation of one running test process by a thread beside it.

    It starts to listen at once. The process waits for the port before any code of the project runs.
    """

    def __init__(
        self,
        process: Process,
        targets: Sequence[WatchedMethod],
        lines: Mapping[str, Collection[int]] | None = None,
    ) -> None:
        """Start to listen; `lines` are the lines to watch, see `Observer`.

        Raises: Transient if the network of the job cannot be entered.
        """
        self._process = process
        self._observer = Observer(targets, lines)
        server = process.listen()
        port = server.getsockname()[1]
        self._thread = threading.Thread(
            target=self._accept_and_observe, args=(server,), daemon=True
        )
        self._thread.start()
        try:
            process.stdin.write(f'{port}\n'.encode())
            process.stdin.flush()
        except BrokenPipeError:
            return  # the process has ended, so the observer will see nothing

    def explain_unconfirmed_passes(self, expects: Sequence[Sequence[str]]) -> list[str | None]:
        """Return for each target why its pass is not credible; None if it is credible.

        Waits for the end of the JVM. All are `unobserved` if the JVM could not be observed.
        `expects` holds the names of expected throwables of each target, see
        `observer.explain_unconfirmed_pass`.
        """
        self._thread.join()
        seen = self._observer.seen
        if seen.trouble is not None:
            return [UNOBSERVED] * len(seen.invocations)
        return [
            explain_unconfirmed_pass(invocations, names, ended=seen.ended > index)
            for index, (invocations, names) in enumerate(
                zip(seen.invocations, expects, strict=True)
            )
        ]

    def find_reached_lines_by_type(self) -> dict[str, frozenset[int]]:
        """Return the watched lines that were executed, by top-level type.

        Waits for the end of the JVM. The result is empty if the JVM could not be observed to its
        end.
        """
        self._thread.join()
        seen = self._observer.seen
        if seen.trouble is not None:
            return {}
        return {name: frozenset(lines) for name, lines in seen.reached.items()}

    def _accept_and_observe(self, server: socket.socket) -> None:
        """Accept the first connection, stop listening, and observe through it until the JVM ends.

        The first connection is that of the JVM's agent. Returns if the process ends without one.
        """
        with server:
            server.settimeout(_ACCEPT_SECONDS)
            while self._process.poll() is None:
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                break
            else:
                return
        connection.settimeout(None)
        with connection:
            self._observer.observe_until_jvm_ends(connection)


# Run test methods in one new JVM in the sandbox and read the results from its channel.

# The least CPU limit, in seconds, of a method that has passed once in this pair; before that,
# LEAST_CPU_LIMIT applies. The limit is ten times its slowest passing run if that is more. The wall
# limit is at least ten times LEAST_CPU_LIMIT, since a method that passed may have slept
# (docs/evidence.md).
LEAST_ONCE_PASSED = 15.0
_LAST_WORDS_SECONDS = 10.0

_RECORDED = ('covered', 'entered')


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """A test method to run on all of its runners in one process.

    classes    the runners: concrete classes, or `Sub/Outer$Inner` for an inherited nested class
    cpu_limit  CPU seconds that the method may use
    expects    class names of throwables that its annotations expect, for `run_observed`
    """

    classes: tuple[str, ...]
    method: str
    parameters: tuple[str, ...]
    cpu_limit: float = LEAST_CPU_LIMIT
    expects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRecording:
    """The records of the agents in the JVM while one target ran.

    covered  execution data of JaCoCo, as Base64 for URLs
    entered  lines of CLASS.METHODDESCRIPTOR with internal names
    reached  watched lines that an observer saw executed, by top-level type; None without observer
    """

    covered: str
    entered: str
    reached: Mapping[str, frozenset[int]] | None = None


def run_targets(sandbox: Sandbox, job: Job, targets: Sequence[RunTarget]) -> VerdictBatch:
    """Run targets in order in one JVM and return their verdicts.

    `job` is one of `Launcher.make_job`. Raises: CorruptObject, see `_run_again_if_killed`.
    """
    return _run_job(sandbox, job, targets, lambda process: None)


def run_observed(sandbox: Sandbox, job: Job, targets: Sequence[RunTarget]) -> VerdictBatch:
    """Run targets like `run_targets`, with an observer outside the JVM.

    `job` must come from a plan that is `observed`. A pass that the observer did not confirm stays a
    pass, but has the reason in `tampered`.
    """
    watched = [_make_watched_method(target) for target in targets]
    runs: list[ObservedRun] = []
    batch = _run_job(
        sandbox, job, targets, lambda process: runs.append(ObservedRun(process, watched))
    )
    seen = runs[-1].explain_unconfirmed_passes([target.expects for target in targets])
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


def _make_watched_method(target: RunTarget) -> WatchedMethod:
    classes = tuple(dict.fromkeys(name.rpartition(VIA)[2] for name in target.classes))
    return WatchedMethod(classes, target.method, target.parameters)


def run_traced(
    sandbox: Sandbox, job: Job, targets: Sequence[RunTarget]
) -> tuple[list[TargetRecording | None], VerdictBatch]:
    """Run targets; return what the agents of the plan recorded of each one, and the verdicts.

    A recording is None if no test of the target ran, or not to its end.
    """
    heard, batch = _run_again_if_killed(sandbox, job, targets, lambda process: None)
    return _collect_recordings(heard), batch


def run_watched(
    sandbox: Sandbox, job: Job, target: RunTarget, lines: Mapping[str, Collection[int]]
) -> tuple[TargetRecording | None, VerdictBatch]:
    """Run one target with agents and an observer; return its recording and the verdicts.

    `job` must come from a plan that is `observed`. `lines` are the lines to watch, see `Observer`.
    The recording is None if the target did not pass or the observer did not confirm the pass.
    """
    watched = [_make_watched_method(target)]
    runs: list[ObservedRun] = []

    def start_observer(process: Process) -> None:
        """Observe the process; a repeated run gets a new observer."""
        runs.append(ObservedRun(process, watched, lines))

    heard, batch = _run_again_if_killed(sandbox, job, [target], start_observer)
    (recorded,), (verdict,) = _collect_recordings(heard), batch.verdicts
    (reason,) = runs[-1].explain_unconfirmed_passes([target.expects])
    if recorded is None or verdict is None or verdict.outcome is not Outcome.PASS or reason:
        return None, batch
    return replace(recorded, reached=runs[-1].find_reached_lines_by_type()), batch


def _collect_recordings(heard: NumberedReport) -> list[TargetRecording | None]:
    recordings: list[TargetRecording | None] = []
    for target in heard.targets:
        covered, entered = (
            ''.join(event.get('data') or '' for event in target.list_recordings(kind))
            for kind in _RECORDED
        )
        complete = target.ended and target.tests and target.list_recordings('covered')
        recordings.append(TargetRecording(covered=covered, entered=entered) if complete else None)
    return recordings


def _run_job(
    sandbox: Sandbox,
    job: Job,
    targets: Sequence[RunTarget],
    accompany: Callable[[Process], None],
) -> VerdictBatch:
    return _run_again_if_killed(sandbox, job, targets, accompany)[1]


def _run_again_if_killed(
    sandbox: Sandbox,
    job: Job,
    targets: Sequence[RunTarget],
    accompany: Callable[[Process], None],
) -> tuple[NumberedReport, VerdictBatch]:
    """Run the job and return its report and verdicts; repeat it if it was killed from outside.

    There are up to MOST_KILLS runs: such a kill need not be the tests' fault, while tests that kill
    their process do so in each run. `accompany` is called with each started process. Raises:
    CorruptObject if the process read a file of which the clone lacks the content, or if it was
    killed before that could be excluded.
    """
    used = 0.0
    for _ in range(MOST_KILLS):
        heard, batch, killed, clean = _run_once_with_killed_and_clean(
            sandbox, job, targets, accompany
        )
        used += batch.cpu_seconds
        if not killed:
            break
    if isinstance(job, GuardedJob) and not clean:
        raise CorruptObject(job.objects[0])
    return heard, replace(batch, cpu_seconds=used)


def _run_once_with_killed_and_clean(
    sandbox: Sandbox,
    job: Job,
    targets: Sequence[RunTarget],
    accompany: Callable[[Process], None],
) -> tuple[NumberedReport, VerdictBatch, bool, bool]:
    """Run the job once; return its report, its verdicts and two flags.

    The first flag says whether the process was killed from outside before it had reported all. The
    second one says whether its shell confirmed that no stand-in was read.
    """
    nonce, key = secrets.token_hex(16), secrets.token_hex(16)
    process = sandbox.start(job)
    stream = KeyedStream(process.stdout, key)
    heard = NumberedReport(
        targets=[TargetReport() for _ in targets],
        make_verdict=_make_test_verdict,
        recorded=_RECORDED,
    )
    bounds = CpuBounds(
        tests={index: target.cpu_limit for index, target in enumerate(targets)},
        loading=LEAST_CPU_LIMIT,
        least_wall=LEAST_CPU_LIMIT * WALL_PER_CPU,
    )
    try:
        if isinstance(job, GuardedJob):
            process.stdin.write(f'{key}\n'.encode())
        accompany(process)
        _send_request(process, nonce, targets)
        with watch_limits(process, heard, bounds):
            for event in read_events(stream, nonce):
                heard.handle_event(event)
        status, killed = _wait_for_status_and_outside_kill(process)
        used = process.get_cpu_seconds()
        noise = process.get_last_error_output()
    finally:
        process.close()
    verdicts = tuple(heard.derive_verdicts(status, noise))
    lost = killed and heard.late is None and not heard.is_complete
    batch = VerdictBatch(verdicts=verdicts, cpu_seconds=used, output=noise)
    return heard, batch, lost, stream.confirmed


def has_infra_verdict(batch: VerdictBatch) -> bool:
    """Return whether a verdict is `infra`, as all are if the process reported nothing at all."""
    return any(
        verdict is not None and verdict.outcome is Outcome.INFRA for verdict in batch.verdicts
    )


def _wait_for_status_and_outside_kill(process: Process) -> tuple[str, bool]:
    """Return the process's exit status or exceeded limit, and whether something else killed it.

    If it closes its channel but does not end soon, it is killed here, and the flag is False.
    """
    if not process.ends_within(_LAST_WORDS_SECONDS):
        process.kill()
        return process.exceeded or f'exit:{process.wait()}', False
    status = process.exceeded or f'exit:{process.wait()}'
    return status, status in KILLED


def encode_request(nonce: str, targets: Sequence[RunTarget]) -> bytes:
    """Return the bytes of the request with which the worker runs the targets.

    The worker's reports carry the `nonce`.
    """
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
        return  # the JVM ended before it read the request; the verdicts reflect its silence


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
