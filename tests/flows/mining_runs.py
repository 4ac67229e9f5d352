"""Runs of the miner in processes of their own, to be disturbed, and what they leave."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from coevo.model.words import Walk
from coevo.storage.store import Partition
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.projects import NAME, QUICKLY, junit, pom, source, write

COEVO = Path(sys.executable).with_name('coevo')
WITH_TOY = (sys.executable, '-m', 'tests.languages.coevo_with_toy')
PAIRS = 3
PARTITION = Partition(repo=NAME, language='java', walk=Walk.PARENTS)
OF_TOYS = replace(PARTITION, language='toy')


def of_java(folder: Path) -> Path:
    """A repository of Maven's with so many pairs."""
    steps = []
    for number in range(PAIRS + 1):
        # A new name: where a test does not compile nothing is run, which is cheaper.
        value = f'    public static int last{number}() {{ return {number}; }}\n'
        test = junit('TillTest', f'rings: assertEquals({number}, Till.last{number}());')
        steps.append({'pom.xml': pom(), **source('Till', value), **test})
    return write(folder / 'repository', steps)


def released(store: Path) -> Path:
    snapshot = store.with_name('snapshot')
    shutil.rmtree(snapshot, ignore_errors=True)
    publish_release(ReleaseOptions(store=store, snapshot=snapshot))
    return snapshot


def different(one: Path, other: Path) -> list[str]:
    """Files that are not the same bytes; timings are no part of it."""
    names = {p.relative_to(r).as_posix() for r in (one, other) for p in r.rglob('*') if p.is_file()}
    checked = sorted(name for name in names if '/timings/' not in f'/{name}')
    _, mismatch, errors = filecmp.cmpfiles(one, other, checked, shallow=False)
    return mismatch + errors


def start(
    repository: Path,
    store: Path,
    work: Path,
    *more: str,
    command: Sequence[str | Path] = (COEVO,),
) -> subprocess.Popen[str]:
    # Whoever runs the tests in the background has told all that it starts to ignore Ctrl-C.
    heed = ('env', '--default-signal=INT')
    return subprocess.Popen(
        [
            *heed,
            *command,
            'mine',
            repository,
            '--name',
            NAME,
            '--store',
            store,
            '--jobs',
            '1',
            *QUICKLY,
            *more,
        ],
        env={**os.environ, 'COEVO_WORK': str(work)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def segments(store: Path) -> int:
    return len(list(store.glob('partitions/**/*.segment')))


def processes(work: Path) -> list[str]:
    commands = [' '.join(p.info['cmdline'] or ()) for p in psutil.process_iter(['cmdline'])]
    return [line for line in commands if str(work) in line]


def wait_until(met: object, process: subprocess.Popen[str]) -> None:
    """Until a condition holds, or the process is over."""
    assert callable(met)
    deadline = time.monotonic() + 600
    while not met() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def disturb(
    process: subprocess.Popen[str], moment: int, store: Path, work: Path, what: int
) -> None:
    """Send a signal: at once, when the sandbox is up, or after so many segments."""
    if moment == 1:
        wait_until(lambda: processes(work), process)
    elif moment > 1:
        wait_until(lambda: segments(store) >= moment - 1, process)
    process.send_signal(what)
    process.wait(timeout=600)


def gone(work: Path) -> None:
    """The kernel ends what belonged to a killed run, but need not have done so at once."""
    deadline = time.monotonic() + 120
    while processes(work):
        assert time.monotonic() < deadline, processes(work)
        time.sleep(0.05)
