"""What is made of what a test process says, and of how it ended."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from coevo.languages.core.channel import read_events
from coevo.languages.golang.channel import GoProcessReport, GoTestReport, make_verdicts
from coevo.model.words import Outcome

BEGIN, PASS = {'e': 'begin', 'test': 'TestA'}, {'e': 'end', 'test': 'TestA', 'outcome': 'pass'}
STARTED = {'e': 'started'}


def told(*said: dict[str, Any], status: str = 'exit:0', names: tuple[str, ...] = ('TestA',)) -> Any:
    heard = GoProcessReport(tests={name: GoTestReport() for name in names}, key='k')
    for event in said:
        heard.handle_event(event)
    heard.status = heard.status or status
    return make_verdicts(heard, names, status, '')


def outcome(*said: dict[str, Any], status: str = 'exit:0') -> tuple[Outcome, str | None]:
    (found,) = told(*said, status=status)
    return found.outcome, found.signature


@pytest.mark.parametrize(
    ('said', 'status', 'expected'),
    [
        ((STARTED, BEGIN, PASS), 'exit:0', (Outcome.PASS, None)),
        ((STARTED, BEGIN, PASS), 'exit:1', (Outcome.ERROR, 'exit:1')),  # so TestMain ends it
        ((STARTED, BEGIN, PASS), 'exit:2', (Outcome.ERROR, 'exit:2')),  # a goroutine panicked
        ((STARTED, PASS), 'exit:0', (Outcome.MISSING, None)),  # it never began
        ((STARTED, BEGIN), 'exit:0', (Outcome.ERROR, 'exit:0')),
        ((STARTED, BEGIN), 'cpu', (Outcome.TIMEOUT, 'time')),
        ((STARTED,), 'exit:0', (Outcome.MISSING, None)),
        ((STARTED,), 'exit:2', (Outcome.ERROR, 'exit:2')),  # an init panicked
        ((), 'exit:70', (Outcome.INFRA, 'no_start')),
        ((STARTED, BEGIN, {**PASS, 'outcome': 'won'}), 'exit:0', (Outcome.ERROR, 'exit:0')),
    ],
)
def test_pass_needs_a_begin_event_an_end_event_and_exit_status_0(
    said: tuple[dict[str, Any], ...], status: str, expected: tuple[Outcome, str | None]
) -> None:
    assert outcome(*said, status=status) == expected


def test_failing_neighbour_does_not_change_the_verdict_of_a_passed_test() -> None:
    other = [{**BEGIN, 'test': 'TestB'}, {**PASS, 'test': 'TestB', 'outcome': 'fail'}]
    one, two = told(STARTED, BEGIN, PASS, *other, status='exit:1', names=('TestA', 'TestB'))
    assert (one.outcome, two.outcome) == (Outcome.PASS, Outcome.FAIL)


def test_two_unfinished_tests_of_an_ended_process_get_no_verdict() -> None:
    other = {**BEGIN, 'test': 'TestB'}
    assert told(STARTED, BEGIN, other, status='exit:2', names=('TestA', 'TestB')) == [None, None]


def test_only_a_line_with_the_nonce_is_an_event() -> None:
    lines = [
        f'n\t{json.dumps(BEGIN)}',
        json.dumps(BEGIN),
        f'm\t{json.dumps(PASS)}',
        'n\t{"e',
        'n\t[1]',
    ]
    assert list(read_events(io.BytesIO('\n'.join(lines).encode()), 'n')) == [BEGIN]
