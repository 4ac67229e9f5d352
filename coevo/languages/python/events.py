"""Combine the events that a test process sends over its channel, and derive verdicts from them.

Each event is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coevo.languages.core.channel import (
    TargetReport,
    find_withheld_resource,
    is_well_formed,
    judge_end_before_tests,
    judge_no_start,
    judge_unended,
)
from coevo.languages.verdicts import ObservedCalls, Verdict, explain_unconfirmed_pass
from coevo.model.words import Outcome

_MOST_TRACES = 4096
_TEXTS = ('message', 'frame', 'detail')
_RULINGS = frozenset({'compile_error', 'error', 'fail', 'skipped', 'pass'})


@dataclass(slots=True, kw_only=True)
class PythonProcessReport:
    """The events that one process has reported so far. Implements `core.test_runs.ProcessReport`.

    targets    reports on the requested tests, in the order of the request
    files      test files that did not load, or were skipped as a whole; `*` means all of them
    absent     by file, class and function, the name that a function needs and the code lacks
    started    whether the controller ran; if a test kills it later, coevo is not at fault
    loaded     whether the session of pytest ran to its end
    status     how the test process ended, as seen by its controller
    unread     whether no stand-in for a missing file was read, as seen by its controller
    late       the index of the target that exceeded its time, if any
    over       whether the process of many runs has reported all events of this one
    is_ready_for_another_run      whether it then accepts another run
    refused    why it does not accept this run, if so
    rulings    by file, class and function, the worst outcome of a test by the project's own run
    rewritten  by index of the source: the ending of its file name, and its content, as reported
    key        marks events that the test process must not forge: the observation, and the end of a
               run; '' if there are none
    seen       what the observer counted; None if it reported nothing
    """

    targets: list[TargetReport]
    key: str = ''
    seen: PythonObservation | None = None
    files: dict[str, Verdict] = field(default_factory=dict)
    absent: dict[tuple[str, str, str], str] = field(default_factory=dict)
    rewritten: dict[int, tuple[object, object]] = field(default_factory=dict)
    rulings: dict[tuple[str, str, str], Outcome] = field(default_factory=dict)
    started: bool = False
    loaded: bool = False
    status: str | None = None
    unread: bool = False
    late: int | None = None
    over: bool = False
    is_ready_for_another_run: bool = False
    refused: str | None = None

    def handle_event(self, event: dict[str, Any]) -> None:
        """Add one event to the report; ignore it if it is malformed or its key is wrong."""
        if not is_well_formed(event, _TEXTS):
            return
        match event.get('e'):
            case 'status' if isinstance(event.get('status'), str):
                self.status = str(event['status'])[:40]
                self.unread = event.get('unread') is True
            case 'file' if isinstance(event.get('file'), str):
                self.files.setdefault(event['file'], _make_file_verdict(event))
            case 'seen' if self.key and event.get('key') == self.key:
                self.seen = parse_observation(event, len(self.targets))
            case 'over' if self.key and event.get('key') == self.key:
                self.over, self.is_ready_for_another_run = True, event.get('again') is True
            case 'refused' if self.key and event.get('key') == self.key:
                self.refused = str(event.get('why'))
            case 'started':
                self.started = True
            case 'loaded':
                self.loaded = True
            case 'ruling':
                self._record_project_outcome(event)
            case 'rewritten' if isinstance(event.get('place'), int):
                self.rewritten[event['place']] = event.get('tail'), event.get('code')
            case 'absent' if isinstance(event.get('file'), str):
                for owner, name, missing in _parse_owner_function_missing_rows(event.get('users')):
                    self.absent[event['file'], owner, name] = missing
            case _:
                index = event.get('t')
                if isinstance(index, int) and 0 <= index < len(self.targets):
                    _apply_target_event(self.targets[index], event)

    def _record_project_outcome(self, event: dict[str, Any]) -> None:
        identity = event.get('file'), event.get('owner'), event.get('name')
        match identity, event.get('outcome'):
            case (str() as file, str() as owner, str() as name), str() as text if text in _RULINGS:
                known = self.rulings.get((file, owner, name))
                both = [Outcome(text), *([known] if known is not None else [])]
                self.rulings[file, owner, name] = min(both, key=tuple(Outcome).index)

    @property
    def running(self) -> int | None:
        """The index of the target that has begun and not ended; None if there is none."""
        return next((i for i, target in enumerate(self.targets) if target.is_running), None)

    @property
    def is_complete(self) -> bool:
        """True if all targets have ended."""
        return all(target.ended for target in self.targets)

    @property
    def is_refused_for_good(self) -> bool:
        """True if the session will refuse each further run, since its zygote is unusable."""
        return self.refused == 'zygote'

    def is_report_decisive(self, status: str, *, over: bool) -> bool:
        """See `ProcessReport.is_report_decisive`."""
        if self.refused or not self.started:
            return False
        return self.late is not None or (status == 'exit:0' and self.loaded and self.is_complete)


def derive_verdicts(
    heard: PythonProcessReport, files: Sequence[str], status: str, noise: str
) -> Iterator[Verdict | None]:
    """Yield one verdict per target; None if nothing is known, as another target ended the process.

    files   the test file of each target
    status  how the process ended
    noise   what it wrote to standard error
    """
    silent = not any(target.begun for target in heard.targets) and not heard.files
    for index, (target, file) in enumerate(zip(heard.targets, files, strict=True)):
        unended = judge_unended(late=index == heard.late, running=target.is_running, status=status)
        if unended is not None:
            yield unended
        elif target.ended and target.tests:
            yield target.find_worst_verdict()
        elif (loaded := _find_load_failure(heard, file)) is not None:
            yield loaded
        elif target.ended:
            yield Verdict(outcome=Outcome.MISSING)
        elif silent and index == 0 and not heard.started:
            yield judge_no_start(noise)
        elif silent and index == 0:
            yield judge_end_before_tests(status)
        else:
            yield None


def is_below_conftest(path: str, conftest: str) -> bool:
    """Return whether the file `path` lies in or below the folder of the conftest `other`.

    `*` is above all files; any other file that is no conftest is above none.
    """
    folder = conftest.rpartition('/')[0]
    is_conftest = conftest.endswith('conftest.py')
    return conftest == '*' or (is_conftest and path.startswith(f'{folder}/' if folder else ''))


def _find_load_failure(heard: PythonProcessReport, file: str) -> Verdict | None:
    """Return the verdict on a file that did not load, by itself or because of a conftest above it.

    None if no such failure was reported.
    """
    above = (why for other, why in sorted(heard.files.items()) if is_below_conftest(file, other))
    return heard.files.get(file) or next(above, None)


def _apply_target_event(target: TargetReport, event: dict[str, Any]) -> None:
    if event.get('e') != 'trace':
        target.handle_event(event, _make_test_verdict)
    elif target.begun and len(target.recordings) < _MOST_TRACES:
        target.recordings.append(event)


def _parse_owner_function_missing_rows(rows: object) -> Iterator[tuple[str, str, str]]:
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str() as owner, str() as name, str() as missing]:
                yield owner, name, missing


def _make_test_verdict(event: dict[str, Any]) -> Verdict:
    types, message = tuple(event.get('types', ())), event.get('message', '')
    outcome = Outcome(event['outcome'])
    signature = None
    if outcome is Outcome.COMPILE_ERROR:
        signature = f'missing:{message}'
    elif outcome.is_broken:
        signature = f'{types[0] if types else "?"}@{event.get("frame") or "?"}'
    return Verdict(
        outcome=outcome,
        signature=signature,
        exceptions=types,
        message=message,
        environment=name_withheld_resource(types, message) if outcome.is_broken else None,
    )


def _make_file_verdict(event: dict[str, Any]) -> Verdict:
    types, message = tuple(event.get('types', ())), event.get('message', '')
    if event.get('outcome') == 'skipped':
        return Verdict(outcome=Outcome.SKIPPED, exceptions=types, message=message)
    detail = event.get('detail') or event.get('frame') or '?'
    return Verdict(
        outcome=Outcome.COMPILE_ERROR,
        signature=f'{types[0] if types else "?"}@{detail}',
        exceptions=types,
        message=message,
        environment=name_withheld_resource(types, message),
        syntax=event.get('syntax') is True,
    )


# Failures that are due to the machine rather than to the code.
#
# A sandbox has no network and no display, and its clock shows today. The evidence is the class of
# an exception, of a base of it or of a cause. If a class has other uses, its message must match,
# too.

_NO_HOST = (
    r'Name or service not known|Temporary failure in name resolution|nodename nor servname'
    r'|Network is unreachable|getaddrinfo failed|No address associated'
)

# The withheld resource, classes that show it (the ends of their names), and words of the message.
_SIGNATURES = (
    ('network', ('gaierror', 'herror', 'NameResolutionError'), ''),
    ('network', ('OSError', 'ConnectionError', 'URLError', 'ConnectError'), _NO_HOST),
    ('clock', ('SSLError', 'SSLCertVerificationError'), 'expired|not yet valid'),
    ('display', ('TclError', 'DisplayNameError'), 'display'),
)


def name_withheld_resource(types: Sequence[str], message: str) -> str | None:
    """Return what a failed test needs and the sandbox withholds: `network`, `clock` or `display`.

    None if the failure does not show it.

    types    the classes of an exception, of its bases and of its causes
    message  of the exception
    """
    last = [name.rpartition('.')[2] for name in types]
    return find_withheld_resource(_SIGNATURES, message, last)


# The counts of the observer in a test process, as read by the controller, and their meaning for a
# pass. The worker cannot forge them: these events carry a key that only the controller knows.


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonObservation:
    """The counts of the observer in one process.

    calls       of each target
    reached     executed lines by file
    interferes  whether the process accessed what a forger needs: objects of the collector, memory,
                code under a test's name, the observer's own state
    """

    calls: tuple[ObservedCalls, ...]
    reached: Mapping[str, frozenset[int]]
    interferes: bool

    def explain_unconfirmed_target(self, target: int) -> str | None:
        """Return why a reported pass of a target is not trusted; None if it is trusted.

        target  the index of the target
        """
        return explain_unconfirmed_pass(self.calls[target], interferes=self.interferes)


def parse_observation(event: Mapping[str, Any], targets: int) -> PythonObservation | None:
    """Return the observation from the controller's event; None if the observer was not in place.

    targets  the number of targets; None is also returned if the event has counts of another number
    """
    if event.get('ready') is not True:
        return None
    calls = tuple(ObservedCalls(entered=e, left=r + t, failed=t > 0) for e, r, t in event['counts'])
    if len(calls) != targets:
        return None
    return PythonObservation(
        calls=calls,
        reached={path: frozenset(lines) for path, lines in event['lines'].items()},
        interferes=event['reached_for'] != 0,
    )
