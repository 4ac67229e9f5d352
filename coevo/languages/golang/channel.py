"""Reads what a test process and its observer report. Nothing is trusted before it is checked.

The observer watches the test process from above (`inside/observe.go`). The test process cannot
forge the observer's events, since these carry a key that only coevo's program knows.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coevo.languages.core.channel import (
    find_withheld_resource,
    judge_end_before_tests,
    judge_no_start,
    judge_unended,
)
from coevo.languages.core.test_runs import is_killed_from_outside
from coevo.languages.verdicts import UNOBSERVED, ObservedCalls, Verdict, explain_unconfirmed_pass
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_SAID = (Outcome.PASS, Outcome.FAIL, Outcome.SKIPPED)
_MOST_EVENTS = 1 << 16


def make_test_key(method: TestMethod) -> str:
    """Return the key by which a test is known within its test binary, `FILE#NAME`.

    A package and its external tests may both have a test of one name, but not in one file.
    """
    return f'{posixpath.basename(method.test_file)}#{method.test_method}'


@dataclass(slots=True, kw_only=True)
class GoTestReport:
    """The report on one test.

    begun    whether it has begun
    verdict  its verdict; None until it ends
    panic    the panic that ended it, as the standard library saw it; None if there was none
    """

    begun: bool = False
    verdict: Verdict | None = None
    panic: Verdict | None = None


@dataclass(slots=True, kw_only=True)
class GoProcessReport:
    """The report on a process. Fulfils `coevo.languages.core.test_runs.ProcessReport`.

    tests     by the key of `make_test_key`, in the requested order
    started   whether coevo's program in the sandbox started
    status    how the test process ended, as coevo's program saw it
    unread    whether no stand-in for a missing file was read, as coevo's program saw it
    late      the test whose time limit caused the process to be killed
    executed  rows of `inside/executed.go`
    key       authenticates the events that no test process may forge: the end of a run,
              observations
    seen      the observations; None if there was no observer
    over      whether everything has been reported
    is_ready_for_another_run     whether the session is ready for another run
    """

    tests: dict[str, GoTestReport]
    key: str
    seen: GoObservation | None = None
    started: bool = False
    status: str | None = None
    unread: bool = False
    late: str | None = None
    executed: list[dict[str, Any]] = field(default_factory=list)
    over: bool = False
    is_ready_for_another_run: bool = False

    def handle_event(self, event: dict[str, Any]) -> None:
        """Record an event; ignore an unknown kind or test, and a key that is not the right one."""
        name = event.get('test')
        test = self.tests.get(name) if isinstance(name, str) else None
        match event.get('e'):
            case 'started':
                self.started = True
            case 'status' if isinstance(event.get('status'), str):
                self.status = str(event['status'])[:40]
                self.unread = event.get('unread') is True
            case 'over' if event.get('key') == self.key:
                self.over, self.is_ready_for_another_run = True, event.get('again') is True
            case 'observed' if event.get('key') == self.key:
                self.seen = parse_observation(event)
            case 'executed' if len(self.executed) < _MOST_EVENTS:
                self.executed.append(event)
            case 'begin' if test is not None:
                test.begun = True
            case 'end' if test is not None and test.begun and event.get('outcome') in _SAID:
                test.verdict = test.verdict or _parse_verdict(event)
            case 'panic' if test is not None and test.panic is None:
                test.panic = _parse_panic(event)

    @property
    def is_complete(self) -> bool:
        """True if all tests have a verdict."""
        return all(test.verdict is not None for test in self.tests.values())

    @property
    def is_refused_for_good(self) -> bool:
        """False: a session of Go never refuses all runs."""
        return False

    def is_report_decisive(self, status: str, *, over: bool) -> bool:
        """Return whether the report of a session decides, so that no fresh process is needed.

        That is so if a test was too slow, or if everything was reported and the process was not
        killed from outside.
        """
        return self.late is not None or (over and not is_killed_from_outside(self, status))

    @property
    def running(self) -> str | None:
        """The key of a test that has begun and not ended; None if there is none."""
        unfinished = (n for n, test in self.tests.items() if test.begun and test.verdict is None)
        return next(unfinished, None)


def make_verdicts(
    heard: GoProcessReport, names: Sequence[str], status: str, noise: str
) -> list[Verdict | None]:
    """Return a verdict for each test; None for a test whose process another test ended.

    A test has passed if it began and ended, and the exit status fits the outcomes of all tests: 1
    if any failed, else 0. A test that failed counts as failed whatever the status.

    names   keys of `make_test_key`
    status  how the process ended
    noise   its output
    """
    ended = [entry.verdict for entry in heard.tests.values() if entry.verdict is not None]
    failed = any(entry.outcome is Outcome.FAIL for entry in ended)
    as_told = status == ('exit:1' if failed else 'exit:0')
    alone = len(names) == 1
    silent = not any(entry.begun for entry in heard.tests.values())
    return [
        _make_verdict(
            heard, name, index, status, noise, as_told=as_told, alone=alone, silent=silent
        )
        for index, name in enumerate(names)
    ]


def _make_verdict(
    heard: GoProcessReport,
    name: str,
    index: int,
    status: str,
    noise: str,
    *,
    as_told: bool,
    alone: bool,
    silent: bool,
) -> Verdict | None:
    test = heard.tests[name]
    over = status in ('cpu', 'wall', 'memory')
    if test.verdict is not None:
        if as_told or test.verdict.outcome is Outcome.FAIL:
            return test.verdict
        return Verdict(outcome=Outcome.ERROR, signature=status) if alone else None
    unended = judge_unended(late=name == heard.late, running=test.begun, status=status)
    if unended is not None and unended.outcome is Outcome.TIMEOUT:
        return unended
    if test.begun and test.panic is not None and not over:
        return test.panic
    if test.begun:
        others = [o for n, o in heard.tests.items() if n != name and o.begun and o.verdict is None]
        # If several tests ran in parallel, it is unknown which one ended the process.
        return None if others else unended
    if not heard.started and index == 0:
        return judge_no_start(noise)
    if not heard.started:
        return None
    if as_told and heard.status is not None:
        return Verdict(outcome=Outcome.MISSING)
    return judge_end_before_tests(status, noise[-300:]) if silent and index == 0 else None


def _parse_verdict(event: dict[str, Any]) -> Verdict:
    outcome, message = Outcome(event['outcome']), _get_text(event, 'message')
    broken = outcome.is_broken
    return Verdict(
        outcome=outcome,
        signature=f'Fail@{_get_text(event, "frame")[:300]}' if broken else None,
        exceptions=('testing.Fail',) if broken else (),
        message=message if broken else '',
        cpu_seconds=_get_cpu_seconds(event),
        environment=find_withheld_resource(_WITHHELD, message) if broken else None,
    )


def _parse_panic(event: dict[str, Any]) -> Verdict:
    kind, message = _get_text(event, 'kind')[:200] or '?', _get_text(event, 'message')
    return Verdict(
        outcome=Outcome.ERROR,
        signature=f'{kind}@{_get_text(event, "frame")[:300] or "?"}',
        exceptions=(kind,),
        message=message,
        environment=find_withheld_resource(_WITHHELD, message),
    )


def _get_text(event: dict[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ''


def _get_cpu_seconds(event: dict[str, Any]) -> float:
    value = event.get('cpu_ms')
    return value / 1000 if type(value) is int and value >= 0 else 0.0


# Signs of a failure that is due to the machine and not to the code. A sandbox has no network, and
# its clock shows the current date. Go tests report errors in their own words, which include those
# of the standard library.

_NO_NETWORK = (
    r'dial (tcp|udp)4?6? (?!127\.|\[::1\]|localhost)\S+.*(network is unreachable|i/o timeout)'
    r'|lookup (?!localhost)\S+.*(no such host|server misbehaving|connection refused)'
    r'|connect: network is unreachable|Temporary failure in name resolution'
)
_WITHHELD = (
    ('network', (), _NO_NETWORK),
    ('clock', (), r'x509: certificate has expired or is not yet valid'),
)


_UNSEEN = ObservedCalls(entered=0, left=0, failed=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoObservation:
    """The observer's report.

    tests    by the key of `make_test_key`
    altered  whether the code of the process no longer was that of its binary
    reached  the requested lines that were executed, by path
    """

    tests: Mapping[str, ObservedCalls]
    altered: bool
    reached: Mapping[str, frozenset[int]]


def parse_observation(event: Mapping[str, Any]) -> GoObservation:
    """Return the observer's report from an event, whose form is not checked: it bears the key."""
    return GoObservation(
        tests={
            name: ObservedCalls(
                entered=counts['Entered'], left=counts['Left'], failed=counts['Failed']
            )
            for name, counts in event['tests'].items()
        },
        altered=event['altered'],
        reached={path: frozenset(lines) for path, lines in event['reached'].items()},
    )


def explain_doubt(seen: GoObservation | None, test: str) -> str | None:
    """Return why the pass of a test is not credible; None if the observer confirms it.

    `unobserved` if there was no observer; a test that it did not see was `not_entered`.

    test  the key of `make_test_key`
    """
    if seen is None:
        return UNOBSERVED
    return explain_unconfirmed_pass(seen.tests.get(test, _UNSEEN), interferes=seen.altered)
