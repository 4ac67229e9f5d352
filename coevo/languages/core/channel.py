"""Reads what a test process reports of its tests. Nothing is trusted before it is checked.

A verdict needs the complete sequence begin, tests, end under the nonce of the run, which the code
under test does not know. A test that began but did not end is an `error` with the exit status as
its signature, or a `timeout`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome

_LINE_BYTES = 1 << 20
_WORST_FIRST = tuple(Outcome)

# The outcomes that a worker may report; an event with any other was not written by a worker.
_SAID = (Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.SKIPPED, Outcome.COMPILE_ERROR)


WithheldRule = tuple[str, tuple[str, ...], str]
"""A missing resource, the exception classes that indicate it, and a regular expression for the
message.

With classes, both must match: a class may have other uses. Without classes, the message decides.
"""


def find_withheld_resource(
    rules: Iterable[WithheldRule], message: str, types: Sequence[str] = ()
) -> str | None:
    """Return the resource that the machine lacks by the first rule that fits; None if none fits.

    message  of the failure
    types    the class of the failure and those of its causes
    """
    for what, classes, words in rules:
        if (not classes or not set(classes).isdisjoint(types)) and re.search(words, message):
            return what
    return None


class LineStream(Protocol):
    """A channel that is read line by line."""

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line or at most `size` bytes of it; empty at the end."""


def read_events(
    stream: LineStream, nonce: str, line_bytes: int = _LINE_BYTES
) -> Iterator[dict[str, Any]]:
    """Yield the events that stand on the channel under the nonce of the run, parsed from JSON.

    All other lines are skipped: they do not come from coevo's programs, or are too long or
    malformed. Ends with the stream.
    """
    prefix = f'{nonce}\t'.encode()
    while line := stream.readline(line_bytes):
        if line.startswith(prefix):
            try:
                event = json.loads(line[len(prefix) :])
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


@dataclass(slots=True, kw_only=True)
class TargetReport:
    """The report on one target, which may run as several tests: in subclasses, with parameters.

    begun       whether it has begun
    ended       whether it has ended, and as many tests were received as its end announced
    tests       the verdicts on its tests so far
    recordings  events on what it executed
    """

    begun: bool = False
    ended: bool = False
    cpu_seconds: float = 0.0
    tests: list[Verdict] = field(default_factory=list)
    recordings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_running(self) -> bool:
        """True if the target has begun and not ended."""
        return self.begun and not self.ended

    @property
    def has_passed(self) -> bool:
        """True if the target ran to its end, has a test, and all its tests passed."""
        passed = all(test.outcome is Outcome.PASS for test in self.tests)
        return self.ended and bool(self.tests) and passed

    def list_recordings(self, kind: str) -> list[dict[str, Any]]:
        """Return the recorded events whose kind (`e`) is `kind`, in the order of their arrival."""
        return [event for event in self.recordings if event['e'] == kind]

    def handle_event(
        self, event: dict[str, Any], make_verdict: Callable[[dict[str, Any]], Verdict]
    ) -> None:
        """Record a well-formed event of the kind `begin`, `test` or `end`; ignore any other.

        Ignored, too, are `test` and `end` before `begin`, and a test with an outcome that no worker
        reports. An `end` with another number of tests than were received does not end the target.
        """
        match event.get('e'):
            case 'begin':
                self.begun = True
            case 'test' if self.begun and event.get('outcome') in _SAID:
                self.tests.append(make_verdict(event))
            case 'end' if self.begun:
                self.ended = event.get('tests') == len(self.tests)
                self.cpu_seconds = event.get('cpu_ms', 0) / 1000

    def find_worst_verdict(self) -> Verdict:
        """Return the worst verdict of the target's tests, with the CPU time of the whole target.

        The target must have a test.
        """
        worst = min(
            self.tests, key=lambda test: (_WORST_FIRST.index(test.outcome), test.signature or '')
        )
        return dataclasses.replace(worst, cpu_seconds=self.cpu_seconds)


def is_well_formed(
    event: dict[str, Any], texts: Sequence[str], kinds: tuple[type, ...] = (str,)
) -> bool:
    """Return whether the values of an event have the types that a worker writes.

    Values that are absent are well formed.

    texts  the names of the values that must be texts
    kinds  types that these values may have
    """
    types, numbers = event.get('types', []), (event.get('tests', 0), event.get('cpu_ms', 0))
    return (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(event.get(name, ''), kinds) for name in texts)
        and isinstance(types, list)
        and all(isinstance(name, str) for name in types)
    )


def judge_unended(*, late: bool, running: bool, status: str) -> Verdict | None:
    """Return the verdict on a test that was too slow or began and never ended; None if neither.

    It is `timeout` or, for any other end of its process, `error` with the status as its signature.

    late     whether the process was killed because this test exceeded its limit
    running  whether it began and did not end
    status   how the process ended
    """
    if late or (running and status in ('cpu', 'wall')):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time')
    return Verdict(outcome=Outcome.ERROR, signature=status) if running else None


def judge_end_before_tests(status: str, message: str = '') -> Verdict:
    """Return the verdict on a test whose process ended before the test began.

    It is `timeout` if a limit of CPU or wall time ended the process, else `error` with the status
    as its signature.
    """
    if status in ('cpu', 'wall'):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time', message=message)
    return Verdict(outcome=Outcome.ERROR, signature=status, message=message)


def judge_no_start(noise: str) -> Verdict:
    """Return the verdict `infra` with the signature `no_start`, for a process without any report.

    noise  its output, the end of which becomes the message
    """
    return Verdict(outcome=Outcome.INFRA, signature='no_start', message=noise[-300:])


@dataclass(slots=True, kw_only=True)
class NumberedReport:
    """The report on a process whose targets are numbered.

    Fulfils `coevo.languages.core.test_runs.ProcessReport`.

    make_verdict   makes a verdict from the well-formed event of a test
    recorded       the kinds of events on what a target executed
    most_recorded  how many events of each such kind are kept for a target
    """

    targets: list[TargetReport]
    make_verdict: Callable[[dict[str, Any]], Verdict]
    recorded: tuple[str, ...] = ()
    most_recorded: int = 32
    status: str | None = None
    late: int | None = None
    started: bool = False
    over: bool = False
    is_ready_for_another_run: bool = False

    def handle_event(self, event: dict[str, Any]) -> None:
        """Record an event under the target that its `t` numbers.

        An event that is malformed or has an unknown target is ignored. Recordings beyond
        `most_recorded` are ignored, too.
        """
        index = event.get('t')
        if not is_well_formed(event, ('message', 'frame', 'data'), (str, type(None))):
            return
        if not isinstance(index, int) or not 0 <= index < len(self.targets):
            return
        self.started = True
        target, kind = self.targets[index], event.get('e')
        if kind not in self.recorded:
            target.handle_event(event, self.make_verdict)
        elif target.begun and len(target.list_recordings(kind)) < self.most_recorded:
            target.recordings.append(event)

    @property
    def running(self) -> int | None:
        """The number of the target that is running; None if there is none."""
        return next((i for i, target in enumerate(self.targets) if target.is_running), None)

    @property
    def is_complete(self) -> bool:
        """True if all targets have ended."""
        return all(target.ended for target in self.targets)

    @property
    def is_refused_for_good(self) -> bool:
        """False: sessions that number their targets never refuse every run."""
        return False

    def is_report_decisive(self, status: str, *, over: bool) -> bool:
        """Return whether all targets ended or one was too slow, so that no fresh process decides.

        `status` and `over` are not used.
        """
        return self.late is not None or self.is_complete

    def derive_verdicts(self, status: str, noise: str) -> Iterator[Verdict | None]:
        """Yield a verdict for each target, in their order.

        None for a target that did not begin, since an earlier one ended the process. But if no
        target began, the first gets `infra` (`no_start`). A target that ended without tests is
        `missing`.
        """
        silent = not any(target.begun for target in self.targets)
        for index, target in enumerate(self.targets):
            unended = judge_unended(
                late=index == self.late, running=target.is_running, status=status
            )
            if unended is not None:
                yield unended
            elif target.ended and target.tests:
                yield target.find_worst_verdict()
            elif target.ended:
                yield Verdict(outcome=Outcome.MISSING, cpu_seconds=target.cpu_seconds)
            else:
                yield judge_no_start(noise) if silent and index == 0 else None
