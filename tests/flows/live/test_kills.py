"""Two workers over one server, one of them killed with its flow: a re-run finishes what it began."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from flows.batches.batch import list_living_runs
from flows.options import MineOptions
from flows.pipeline import mine
from tests.flows.mining_runs import different, gone, processes, released
from tests.prefect_server import Server, deploy, prefect_server, worker
from tests.projects import QUICK, junit, pom, source, write

PAIRS = 4
_PATIENCE = 400.0


def history(name: str) -> Iterator[dict[str, str | bytes | None]]:
    for number in range(PAIRS + 1):
        value = f'    public static int last() {{ return {number}; }}\n'
        test = junit(f'{name}Test', f'rings: assertEquals({number}, {name}.last());')
        yield {'pom.xml': pom(), **source(name, value), **test}


def wait_for(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def began(store: Path, name: str) -> bool:
    return any((store / 'partitions' / f'local+{name}').rglob('*.segment'))


def at_work(run: str) -> psutil.Process:
    """The process of a flow run, which its worker has started with the run's id."""
    (found,) = (
        one
        for one in psutil.process_iter(['environ'])
        if (one.info['environ'] or {}).get('PREFECT__FLOW_RUN_ID') == run
        and 'flows.batches.job_process' not in one.cmdline()
    )
    return found


def slots(server: Server) -> int:
    """Taken by runs of deployments, as Prefect has them."""
    limits = server.ask('v2/concurrency_limits/filter', {})
    return sum(limit['active_slots'] for limit in limits)


@pytest.mark.live
@pytest.mark.jvm
@pytest.mark.timeout(1500)
def test_run_of_a_killed_worker_and_flow_is_finished_by_a_rerun(tmp_path: Path, work: Path) -> None:
    repositories = {
        name: write(tmp_path / name, list(history(name.capitalize()))) for name in ('till', 'scale')
    }
    store, calm = tmp_path / 'store', tmp_path / 'calm' / 'store'
    for repository in repositories.values():
        mine(MineOptions(source=str(repository), store=calm, profile=QUICK))
    surroundings = {'COEVO_STORE': str(store), 'COEVO_WORK': str(work), 'COEVO_JOBS': '1'}
    with prefect_server(tmp_path / 'live', **surroundings) as server:
        deploy(server)
        with worker(server, 'one', limit=1) as one, worker(server, 'other', limit=1) as other:
            runs = {
                name: server.start('mine/batch', repositories=[str(path)], profile='quick')
                for name, path in repositories.items()
            }
            wait_for(lambda: all(began(store, name) for name in repositories))
            victims = {name: at_work(run) for name, run in runs.items()}
            of_one = psutil.Process(one.pid).children(recursive=True)
            (killed,) = (name for name, process in victims.items() if process in of_one)
            (kept,) = (name for name in runs if name != killed)
            one.kill()
            victims[killed].kill()
            assert victims[kept] in psutil.Process(other.pid).children(recursive=True)
            check_recovery(server, store, runs[killed], runs[kept])
        assert slots(server) == 0
    gone(work)
    assert not processes(store)
    assert different(released(store), released(calm)) == []


def check_recovery(server: Server, store: Path, killed: str, kept: str) -> None:
    """The other worker's run ends as if nothing had been; the reaper has the killed one done again."""
    assert server.wait(kept) == f'1 done, {PAIRS} pairs executed'
    assert server.state(killed)['type'] == 'RUNNING'  # as Prefect believes
    wait_for(lambda: killed not in list_living_runs(store))
    reaper = server.start('reap/minutes', grace_seconds=0)
    server.wait(reaper)
    assert server.state(killed)['type'] == 'CRASHED'
    (again,) = (run for run in server.runs('mine/batch') if run not in (killed, kept))
    message = server.wait(again)
    executed = int(message.split()[2])
    assert message == f'1 done, {executed} pairs executed'
    assert executed < PAIRS
