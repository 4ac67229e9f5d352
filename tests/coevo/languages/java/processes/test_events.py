"""Events that the worker would not write, under the right nonce: they say nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coevo.languages.java.places import TREE
from coevo.languages.java.processes.runner import RunTarget, run_targets
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Limits, open_sandbox

TARGET = RunTarget(classes=('shop.TillTest',), method='rings', parameters=())
BEGIN, END = {'e': 'begin', 't': 0}, {'e': 'end', 't': 0, 'tests': 1, 'cpu_ms': 5}
PASS: dict[str, Any] = {'e': 'test', 't': 0, 'outcome': 'pass', 'types': [], 'frame': None}

# Reads the nonce as the worker does, then writes lines in its stead.
LIAR = """
import json, struct, sys
size = struct.unpack('>ii', sys.stdin.buffer.read(8))[1]
nonce = sys.stdin.buffer.read(size).decode()
for line in json.loads(sys.argv[1]):
    print(nonce + chr(9) + line, flush=True)
"""


def heard(*events: object) -> Outcome:
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    limits = Limits(
        cpu_seconds=20,
        wall_seconds=100,
        memory_bytes=1 << 30,
        processes=64,
        file_bytes=1 << 20,
        disk_bytes=1 << 20,
    )
    job = Job(
        argv=('/usr/bin/env', 'python3', '-c', LIAR, json.dumps(lines)),
        mounts=(),
        limits=limits,
        environment={'PATH': '/usr/local/bin:/usr/bin:/bin'},
        cwd=TREE,
    )
    sandbox = open_sandbox('none')
    try:
        (verdict,) = run_targets(sandbox, job, [TARGET]).verdicts
    finally:
        sandbox.close()
    assert verdict is not None
    return verdict.outcome


def test_complete_sequence_of_events_passes() -> None:
    assert heard(BEGIN, PASS, END) is Outcome.PASS


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    'event',
    [
        {**PASS, 'outcome': 'infra'},
        {**PASS, 'outcome': 'unbuildable'},
        {**PASS, 'outcome': 7},
        {**PASS, 'outcome': None},
        {**PASS, 'types': 'java.lang.Error'},
        {**PASS, 'types': [1]},
        {**PASS, 'message': ['x']},
        {**PASS, 'frame': {}},
        {**PASS, 't': '0'},
        {**PASS, 't': 1},
        ['test'],
        '{"e": "test"',
    ],
)
def test_malformed_test_event_gives_an_error(event: object) -> None:
    assert heard(BEGIN, event, END) is Outcome.ERROR


@pytest.mark.parametrize(
    'end', [{**END, 'tests': True}, {**END, 'tests': 2}, {**END, 'cpu_ms': 'x'}, {'e': 'end'}]
)
def test_malformed_end_event_gives_an_error(end: object) -> None:
    assert heard(BEGIN, PASS, end) is Outcome.ERROR
