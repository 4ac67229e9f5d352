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
    """Return the resource that the machine lacks; None if the failure shows no lack.

    types  the class of the failure and those of its causes
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
    """Yield the events under the nonce of the run.

    Other lines on the channel do not come from coevo's programs and are skipped.
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
        """Return the recorded events of one kind."""
        return [event for event in self.recordings if event['e'] == kind]

    def handle_event(
        self, event: dict[str, Any], make_verdict: Callable[[dict[str, Any]], Verdict]
    ) -> None:
        """Record a well-formed event; events of other kinds are ignored."""
        match event.get('e'):
            case 'begin':
                self.begun = True
            case 'test' if self.begun and event.get('outcome') in _SAID:
                self.tests.append(make_verdict(event))
            case 'end' if self.begun:
                self.ended = event.get('tests') == len(self.tests)
                self.cpu_seconds = event.get('cpu_ms', 0) / 1000

    def find_worst_verdict(self) -> Verdict:
        """Return the worst verdict over subclasses and parameters; the target must have a test."""
        worst = min(
            self.tests, key=lambda test: (_WORST_FIRST.index(test.outcome), test.signature or '')
        )
        return dataclasses.replace(worst, cpu_seconds=self.cpu_seconds)


def is_well_formed(
    event: dict[str, Any], texts: Sequence[str], kinds: tuple[type, ...] = (str,)
) -> bool:
    """Return whether the values of an event have the types that a worker writes.

    texts  the names of the texts
    kinds  types that the texts may have
    """
    types, numbers = event.get('types', []), (event.get('tests', 0), event.get('cpu_ms', 0))
    return (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(event.get(name, ''), kinds) for name in texts)
        and isinstance(types, list)
        and all(isinstance(name, str) for name in types)
    )


def judge_unended(*, late: bool, running: bool, status: str) -> Verdict | None:
    """Return the verdict on a test that was too slow or never ended; None on any other."""
    if late or (running and status in ('cpu', 'wall')):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time')
    return Verdict(outcome=Outcome.ERROR, signature=status) if running else None


def judge_before_tests(status: str, message: str = '') -> Verdict:
    """Return the verdict on a test whose process ended before it, by itself or by a limit."""
    if status in ('cpu', 'wall'):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time', message=message)
    return Verdict(outcome=Outcome.ERROR, signature=status, message=message)


def judge_no_start(noise: str) -> Verdict:
    """Return the verdict on the first test of a process that reported nothing."""
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
    again: bool = False

    def handle_event(self, event: dict[str, Any]) -> None:
        """Record an event; one that is malformed or has an unknown target is ignored."""
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
        """See `ProcessReport.is_refused_for_good`; never."""
        return False

    def settles_run(self, status: str, *, over: bool) -> bool:
        """Return whether all targets ended or one was too slow; see `ProcessReport.settles_run`."""
        return self.late is not None or self.is_complete

    def derive_verdicts(self, status: str, noise: str) -> Iterator[Verdict | None]:
        """Yield a verdict for each target; None for a target whose process a neighbour ended.

        A target without tests is `missing`.
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
