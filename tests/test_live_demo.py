"""`make live-demo` as a person runs it: what it promises, and that nothing is left of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.live_demo.history import GOOD, PUSHED

COMMAND = ('env', '--default-signal=INT', sys.executable, '-m', 'tests.live_demo')


def belonging(folder: Path) -> list[int]:
    """The processes that know the folder by their environment or their arguments."""
    found = []
    for process in psutil.process_iter(['environ', 'cmdline']):
        words = (*(process.info['environ'] or {}).values(), *(process.info['cmdline'] or ()))
        if any(str(folder) in word for word in words):
            found.append(process.pid)
    return found


def wait_for(met: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(1500)
def test_live_demo_mines_and_releases_two_months(tmp_path: Path) -> None:
    folder = tmp_path / 'live'
    done = subprocess.run((*COMMAND, folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pairs = sum(GOOD.values())
    assert json.loads(done.stdout.splitlines()[-1]) == {
        'found': len(GOOD) + 1,
        'valid': len(GOOD),
        'mined': len(GOOD),
        'pairs_first': pairs,
        'pairs_second': PUSHED,
        'tasks_first': pairs,
        'tasks_second': pairs + PUSHED,
        'not_held': 0,
        'gold': pairs + PUSHED,
        'never_run': 0,
    }
    wait_for(lambda: not belonging(folder), 30)


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize('what', [signal.SIGINT, signal.SIGTERM])
def test_interrupt_stops_all_processes_of_the_live_demo(tmp_path: Path, what: int) -> None:
    """While its flows are at work."""
    folder = tmp_path / 'live'
    with subprocess.Popen((*COMMAND, folder), stdout=subprocess.PIPE, text=True) as process:
        wait_for(lambda: (folder / 'store' / 'claims').exists(), 1200)
        process.send_signal(what)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output.endswith('live-demo: interrupted; everything is stopped\n')
    wait_for(lambda: not belonging(folder), 30)
