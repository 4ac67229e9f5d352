"""A flow run that is killed without a word, in short: no worker, and nothing that a JVM is needed for."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.storage.store import Store
from flows.batches.batch import list_living_runs
from tests.prefect_server import Server, prefect_server
from tests.projects import pom, source, write

# Leases are short, so that nobody has to wait long for the end of that of a process which is gone.
FLOW = """\
import sys
from prefect import tags
from coevo.storage import leases
leases.SECONDS = 2.0
from flows.live.mine import mine
from flows.live.reap import reap
from flows.live.reap import TAG
with tags(TAG):
    if sys.argv[1] == 'again':
        assert reap(grace_seconds=0) == 1
    mine(sys.argv[2:], profile='quick')
"""


def wait_for(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(server: Server) -> list[tuple[str, str]]:
    """State and message of each run of `mine`, the oldest first."""
    wanted = {'flows': {'name': {'any_': ['mine']}}, 'sort': 'START_TIME_ASC'}
    states = [one['state'] for one in server.ask('flow_runs/filter', wanted)]
    return [(state['type'], state['message'] or '') for state in states]


def start(server: Server, *words: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen((sys.executable, '-c', FLOW, *words), env=dict(server.environment))


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_killed_run_is_reaped_and_run_again(tmp_path: Path) -> None:
    steps = [{'pom.xml': pom(), **source('Till', f'    // {number}\n')} for number in range(4)]
    repository, store = write(tmp_path / 'repository', steps), tmp_path / 'store'
    with prefect_server(tmp_path / 'live', COEVO_STORE=str(store)) as server:
        with start(server, 'first', repository) as killed:
            wait_for(lambda: any(store.glob('claims/runs/*')))
            killed.kill()
        assert [kind for kind, _ in runs(server)] == ['RUNNING']  # as Prefect believes for ever
        wait_for(lambda: not list_living_runs(store))
        with start(server, 'again', repository) as again:
            assert again.wait(timeout=200) == 0
        assert runs(server) == [
            ('CRASHED', 'no heartbeat: the process of this run is gone'),
            ('COMPLETED', '1 done, 3 pairs executed'),
        ]
    (partition,) = Store(store).list_partitions()
    assert not Store(store).list_unmined_pairs(partition)
