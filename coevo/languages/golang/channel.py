"""What a test process says of its tests, put together; nothing of it is trusted before it is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import BinaryIO

from coevo.languages.golang.observation import GoObservation
from coevo.languages.golang.observation import observation
from coevo.languages.golang.withheld import withheld
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome

_LINE_BYTES = 1 << 21
_SAID = (Outcome.PASS, Outcome.FAIL, Outcome.SKIPPED)
_MOST_EVENTS = 1 << 16


@dataclass(slots=True, kw_only=True)
class HeardTest:
    """What was said of one test; a panic is what the standard library saw it end by."""

    begun: bool = False
    verdict: Verdict | None = None
    panic: Verdict | None = None


@dataclass(slots=True, kw_only=True)
class Heard:
    """What was said of a process.

    tests     by name, in the order in which they were asked for
    started   whether our program was there
    status    how the test process ended, as our program saw it
    late      the test for which it was killed
    executed  rows of `inside/executed.go`
    key       under which our program tells what no test process may: that a run is over, what was seen
    seen      by an observer; None where nobody watched
    over      whether it has told all; again: whether it is ready for a next run
    """

    tests: dict[str, HeardTest]
    key: str
    seen: GoObservation | None = None
    started: bool = False
    status: str | None = None
    late: str | None = None
    executed: list[dict[str, Any]] = field(default_factory=list)
    over: bool = False
    again: bool = False

    def hear(self, event: dict[str, Any]) -> None:
        name = event.get('test')
        one = self.tests.get(name) if isinstance(name, str) else None
        match event.get('e'):
            case 'started':
                self.started = True
            case 'status' if isinstance(event.get('status'), str):
                self.status = str(event['status'])[:40]
            case 'over' if event.get('key') == self.key:
                self.over, self.again = True, event.get('again') is True
            case 'observed' if event.get('key') == self.key:
                self.seen = observation(event)
            case 'executed' if len(self.executed) < _MOST_EVENTS:
                self.executed.append(event)
            case 'begin' if one is not None:
                one.begun = True
            case 'end' if one is not None and one.begun and event.get('outcome') in _SAID:
                one.verdict = _worse(one.verdict, _verdict(event))
            case 'panic' if one is not None and one.panic is None:
                one.panic = _panic(event)

    @property
    def running(self) -> str | None:
        """A test that has begun and not ended."""
        found = (n for n, one in self.tests.items() if one.begun and one.verdict is None)
        return next(found, None)


def events(stream: BinaryIO, nonce: str) -> Iterator[dict[str, Any]]:
    """Events under our nonce; anything else on the channel was not written by our program."""
    prefix = f'{nonce}\t'.encode()
    while line := stream.readline(_LINE_BYTES):
        if line.startswith(prefix):
            try:
                event = json.loads(line[len(prefix) :])
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def verdicts(heard: Heard, names: Sequence[str], status: str, noise: str) -> list[Verdict | None]:
    """One for each name; None for one that lost its process to a neighbour.

    A test has passed if it began, ended, and its process ended as one does in which no test failed, or
    as one in which only others did.
    """
    ended = [one.verdict for one in heard.tests.values() if one.verdict is not None]
    failed = any(one.outcome is Outcome.FAIL for one in ended)
    as_told = status == ('exit:1' if failed else 'exit:0')
    alone = len(names) == 1
    silent = not any(one.begun for one in heard.tests.values())
    return [
        _of_one(heard, name, index, status, noise, as_told=as_told, alone=alone, silent=silent)
        for index, name in enumerate(names)
    ]


def _of_one(
    heard: Heard,
    name: str,
    index: int,
    status: str,
    noise: str,
    *,
    as_told: bool,
    alone: bool,
    silent: bool,
) -> Verdict | None:
    one = heard.tests[name]
    over = status in ('cpu', 'wall', 'memory')
    if one.verdict is not None:
        if as_told or one.verdict.outcome is Outcome.FAIL:
            return one.verdict
        return Verdict(outcome=Outcome.ERROR, signature=status) if alone else None
    if name == heard.late or (one.begun and status in ('cpu', 'wall')):
        return Verdict(outcome=Outcome.TIMEOUT, signature='time')
    if one.begun and one.panic is not None and not over:
        return one.panic
    if one.begun:
        others = [o for n, o in heard.tests.items() if n != name and o.begun and o.verdict is None]
        # Of tests that ran beside each other nobody knows which one ended their process.
        return None if others else Verdict(outcome=Outcome.ERROR, signature=status)
    if not heard.started and index == 0:
        return Verdict(outcome=Outcome.INFRA, signature='no_start', message=noise[-300:])
    if not heard.started:
        return None
    if as_told and heard.status is not None:
        return Verdict(outcome=Outcome.MISSING)
    if silent and index == 0:
        late = status in ('cpu', 'wall')
        return Verdict(
            outcome=Outcome.TIMEOUT if late else Outcome.ERROR,
            signature='time' if late else status,
            message=noise[-300:],
        )
    return None


def _worse(one: Verdict | None, other: Verdict) -> Verdict:
    """Of two tests of one name, in a package and in its external tests."""
    return one if one is not None and one.outcome is Outcome.FAIL else other


def _verdict(event: dict[str, Any]) -> Verdict:
    outcome, message = Outcome(event['outcome']), _text(event, 'message')
    broken = outcome.broken
    return Verdict(
        outcome=outcome,
        signature=f'Fail@{_text(event, "frame")[:300]}' if broken else None,
        exceptions=('testing.Fail',) if broken else (),
        message=message if broken else '',
        cpu_seconds=_seconds(event),
        environment=withheld(message) if broken else None,
    )


def _panic(event: dict[str, Any]) -> Verdict:
    kind, message = _text(event, 'kind')[:200] or '?', _text(event, 'message')
    return Verdict(
        outcome=Outcome.ERROR,
        signature=f'{kind}@{_text(event, "frame")[:300] or "?"}',
        exceptions=(kind,),
        message=message,
        environment=withheld(message),
    )


def _text(event: dict[str, Any], name: str) -> str:
    found = event.get(name)
    return found if isinstance(found, str) else ''


def _seconds(event: dict[str, Any]) -> float:
    found = event.get('cpu_ms')
    return found / 1000 if type(found) is int and found >= 0 else 0.0
