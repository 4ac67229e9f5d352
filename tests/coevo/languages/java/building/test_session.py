"""The time of a request, and its end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.languages.java.building.session import JvmDeath, JvmSession, compute_crowding
from coevo.languages.java.places import TREE
from coevo.sandboxes.sandbox import Job, Limits, Sandbox, open_sandbox

PROCESSORS = len(os.sched_getaffinity(0))
HANGS = Job(
    argv=('/bin/sh', '-c', 'sleep 600'),
    mounts=(),
    limits=Limits(
        cpu_seconds=20,
        wall_seconds=900,
        memory_bytes=1 << 30,
        processes=64,
        file_bytes=1 << 20,
        disk_bytes=1 << 20,
    ),
    environment={'PATH': '/usr/local/bin:/usr/bin:/bin'},
    cwd=TREE,
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox('none')
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ('load', 'processors', 'shared_by'),
    [(0.3, 2, 1), (2, 2, 1), (6, 2, 3), (70, 2, 6), (70, 64, 70 / 64)],
)
def test_crowding_is_the_load_per_processor_within_bounds(
    load: float, processors: int, shared_by: float
) -> None:
    assert compute_crowding(load, processors) == shared_by


@pytest.mark.sampled(1)
@pytest.mark.parametrize(('load', 'least'), [(0.0, 0.5), (4.0 * PROCESSORS, 2.0)])
def test_hanging_jvm_ends_after_its_time_limit(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: float, least: float
) -> None:
    monkeypatch.setattr(os, 'getloadavg', lambda: (load, load, load))
    builder = JvmSession(sandbox, lambda: HANGS, seconds=0.5)
    begun = time.monotonic()

    answer = builder.ask(['build'], tmp_path / 'got')

    assert isinstance(answer, JvmDeath)
    assert answer.reason == 'time'
    assert time.monotonic() - begun >= least
