"""A worker that is told to end lets go of its repository at once, and another one goes on with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flows.batches.batch import list_living_runs
from flows.options import MineOptions
from flows.pipeline import mine
from tests.flows.live.test_kills import PAIRS, began, history, wait_for
from tests.flows.mining_runs import different, gone, processes, released
from tests.prefect_server import Server, deploy, logged, prefect_server
from tests.projects import QUICK, write


def named(server: Server, run: str) -> str:
    """By the name people find a run again."""
    return next(str(one['name']) for one in server.ask('flow_runs/filter', {}) if one['id'] == run)


@pytest.mark.live
@pytest.mark.jvm
@pytest.mark.timeout(1500)
def test_terminated_worker_releases_its_repository_for_another_worker(
    tmp_path: Path, work: Path
) -> None:
    repository = write(tmp_path / 'till', list(history('Till')))
    store, calm = tmp_path / 'store', tmp_path / 'calm' / 'store'
    mine(MineOptions(source=str(repository), store=calm, profile=QUICK))
    surroundings = {'COEVO_STORE': str(store), 'COEVO_WORK': str(work), 'COEVO_JOBS': '1'}
    ours = (sys.executable, '-m', 'flows.live.worker', '--pool', 'coevo', '--limit', '1')
    with prefect_server(tmp_path / 'live', **surroundings) as server:
        deploy(server)
        log = server.folder / 'worker.log'
        with logged(log, ours, server.environment) as worker:
            first = server.start('mine/batch', repositories=[str(repository)], profile='quick')
            wait_for(lambda: began(store, 'till'))
            worker.terminate()
            assert worker.wait() == 143
        # A lease that nobody gives back lasts for most of a minute.
        assert list_living_runs(store) == frozenset()
        assert server.state(first)['type'] == 'CRASHED'
        (again,) = (run for run in server.runs('mine/batch') if run != first)
        assert named(server, again) == named(server, first)
        with logged(log, ours, server.environment):
            message = server.wait(again)
    assert message.startswith('1 done, ')
    assert int(message.split()[2]) < PAIRS
    gone(work)
    assert not processes(store)
    assert different(released(store), released(calm)) == []
