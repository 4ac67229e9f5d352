"""What a test process says of its tests; nothing of it is trusted before it is checked.

A verdict needs the complete sequence begin, tests, end under the nonce of the run, which the code under test does
not know. A test that began but did not end is an `error` with the exit status as its signature, or a `timeout`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome

_LINE_BYTES = 1 << 20
_WORST_FIRST = tuple(Outcome)

# What a worker may say of a test; anything else was not said by the worker.
_SAID = (Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.SKIPPED, Outcome.COMPILE_ERROR)


WithheldRule = tuple[str, tuple[str, ...], str]
"""What the machine withholds, classes of exceptions that show it, if it takes one, and a regular expression that the
message must match: where a class has other uses, too, its message must hold the words given."""


def find_withheld_resource(
    rules: Iterable[WithheldRule], message: str, types: Sequence[str] = ()
) -> str | None:
    """What the machine withheld, by the message of a failure, its class and those of its causes; None if nothing."""
    for what, classes, words in rules:
        if (not classes or not set(classes).isdisjoint(types)) and re.search(words, message):
            return what
    return None


def read_events(
    stream: BinaryIO, nonce: str, line_bytes: int = _LINE_BYTES
) -> Iterator[dict[str, Any]]:
    """Events under our nonce; anything else on the channel was not written by a program of ours."""
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
    """What was said of one target, which may be several tests: of subclasses, of parameters.

    recordings  events that say what it executed
    """

    begun: bool = False
    ended: bool = False
    cpu_seconds: float = 0.0
    tests: list[Verdict] = field(default_factory=list)
    recordings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        return self.begun and not self.ended

    @property
    def has_passed(self) -> bool:
        """Whether it went to its end, and no test of it did anything but pass."""
        passed = all(test.outcome is Outcome.PASS for test in self.tests)
        return self.ended and bool(self.tests) and passed

    def list_recordings(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind."""
        return [event for event in self.recordings if event['e'] == kind]

    def handle_event(
        self, event: dict[str, Any], make_verdict: Callable[[dict[str, Any]], Verdict]
    ) -> None:
        """An event that is well formed; those of other kinds are ignored."""
        match event.get('e'):
            case 'begin':
                self.begun = True
            case 'test' if self.begun and event.get('outcome') in _SAID:
                self.tests.append(make_verdict(event))
            case 'end' if self.begun:
                self.ended = event.get('tests') == len(self.tests)
                self.cpu_seconds = event.get('cpu_ms', 0) / 1000

    def find_worst_verdict(self) -> Verdict:
        """The worst over subclasses and parameters, of a target that has some."""
        worst = min(
            self.tests, key=lambda test: (_WORST_FIRST.index(test.outcome), test.signature or '')
        )
        return dataclasses.replace(worst, cpu_seconds=self.cpu_seconds)


def is_well_formed(
    event: dict[str, Any], texts: Sequence[str], kinds: tuple[type, ...] = (str,)
) -> bool:
    """Whether numbers, class names and some texts of an event are what a worker would write.

    kinds  of what may stand for a text
    """
    types, numbers = event.get('types', []), (event.get('tests', 0), event.get('cpu_ms', 0))
    return (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(event.get(name, ''), kinds) for name in texts)
        and isinstance(types, list)
        and all(isinstance(name, str) for name in types)
    )


def judge_unended(*, late: bool, running: bool, status: str) -> Verdict | None:
    """The verdict on a test that began and did not end, or was killed for time; None on any other."""
    if late or (running and status in ('cpu', 'wall')):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time')
    return Verdict(outcome=Outcome.ERROR, signature=status) if running else None


def judge_before_tests(status: str, message: str = '') -> Verdict:
    """The verdict on a test whose process ended before it: by itself, or for a limit of ours."""
    if status in ('cpu', 'wall'):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time', message=message)
    return Verdict(outcome=Outcome.ERROR, signature=status, message=message)


def judge_no_start(noise: str) -> Verdict:
    """The verdict on the first test of a process of which nothing was heard."""
    return Verdict(outcome=Outcome.INFRA, signature='no_start', message=noise[-300:])


@dataclass(slots=True, kw_only=True)
class NumberedReport:
    """What was said of a process whose targets have numbers. Fulfils `coevo.languages.core.test_runs.ProcessReport`.

    make_verdict  from the event of a test that is well formed
    recorded      kinds of events that say what a target executed, of each so many at most
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
        return next((i for i, target in enumerate(self.targets) if target.is_running), None)

    @property
    def is_complete(self) -> bool:
        return all(target.ended for target in self.targets)

    @property
    def is_refused_for_good(self) -> bool:
        return False

    def settles_run(self, status: str, *, over: bool) -> bool:
        return self.late is not None or self.is_complete

    def derive_verdicts(self, status: str, noise: str) -> Iterator[Verdict | None]:
        """One for each target; None for one that lost its process to a neighbour. One without tests is `missing`."""
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
