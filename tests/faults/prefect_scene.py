"""Mining of the chain's repository as a flow run under a Prefect server, to be disturbed and done again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from coevo.storage.leases import list_unreleased_lease_states
from coevo.storage.places import open_place
from flows.batches.batch import list_living_runs
from tests.faults.chain import NAME, Chain, processes_of
from tests.prefect_server import OVER, Server, deploy, prefect_server, worker

BATCH = 'mine/batch'
_PATIENCE = 1800.0
_STOP_SECONDS = 10.0  # Docker's


@dataclass(slots=True, kw_only=True)
class Hub:
    """A server that can be killed, and comes back with the same port and database."""

    server: Server
    stack: ExitStack
    up: bool = True

    def kill(self) -> None:
        victims = [psutil.Process(self.server.pid)]
        victims += victims[0].children(recursive=True)
        os.killpg(self.server.pid, signal.SIGKILL)
        psutil.wait_procs(victims)
        self.up = False

    def revive(self) -> None:
        if not self.up:
            again = prefect_server(self.server.folder, self.server.port)
            self.server = self.stack.enter_context(again)
            self.up = True


@dataclass(slots=True, kw_only=True)
class Scene:
    """One run in a store of its own; the worker's environment says where it lies."""

    chain: Chain
    hub: Hub
    stack: ExitStack
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    run: str = ''

    @property
    def server(self) -> Server:
        """The hub's, with the environment of this run."""
        places = {
            'COEVO_STORE': str(self.chain.store),
            'COEVO_WORK': str(self.chain.work),
            'COEVO_JOBS': '1',
        }
        server = self.hub.server
        known = self.chain.stage.actor.environment
        return replace(server, environment={**server.environment, **known, **places})

    @property
    def worker(self) -> subprocess.Popen[bytes]:
        return self.workers[-1]

    def start(self) -> str:
        """Ask for the repository to be mined; the id of the flow run."""
        return self.server.start(BATCH, repositories=[NAME], profile='quick')

    def start_worker(self) -> None:
        name = f'{self.chain.folder.name}-{len(self.workers)}'
        self.workers.append(self.stack.enter_context(worker(self.server, name)))

    def stop_worker(self) -> int:
        """As a service manager does: told to end, killed where it does not; its status."""
        self.worker.terminate()
        try:
            return self.worker.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.worker.kill()
            return self.worker.wait()

    def flow(self) -> list[psutil.Process]:
        """The process of the flow run, while there is one."""
        return self._processes('engine')

    def job(self) -> list[psutil.Process]:
        """The process that mines the repository, while there is one."""
        return self._processes('flows.batches.job_process')

    def is_over(self) -> bool:
        return self.server.state(self.run)['type'] in OVER

    def is_settled(self) -> bool:
        """Whether the run is over, or nothing is left of it but what Prefect believes."""
        return self.is_over() or not (self.flow() or self.run in list_living_runs(self.chain.store))

    def finish(self) -> str:
        """Have it done again, by the reaper where the run was lost; what the last run says."""
        self.hub.revive()
        if self.worker.poll() is not None:
            self.start_worker()
        wait_for(self.is_settled)
        wait_for(lambda: not list_living_runs(self.chain.store))
        again = [] if self.is_over() else self._reaped()
        who = 'by the reaper' if again else 'by hand'
        return f'{who}: {self.server.wait(again[-1] if again else self.start())}'

    def claims(self) -> list[str]:
        """Leases that somebody still holds, or held when he was killed."""
        place = open_place(self.chain.store)
        folders = ('claims/repositories', 'claims/runs')
        return [
            one.name for folder in folders for one in list_unreleased_lease_states(place, folder)
        ]

    def _reaped(self) -> list[str]:
        """What the reaper starts again; nothing where the worker told Prefect meanwhile."""
        before = self.server.runs(BATCH)
        self.server.wait(self.server.start('reap/minutes', grace_seconds=0))
        return [run for run in self.server.runs(BATCH) if run not in before]

    def _processes(self, word: str) -> list[psutil.Process]:
        found = []
        for one in processes_of(self.chain.folder):
            try:
                wanted = one.environ().get('PREFECT__FLOW_RUN_ID') == self.run
                if wanted and any(word in said for said in one.cmdline()):
                    found.append(one)
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        return found


@contextmanager
def hub(folder: Path) -> Iterator[Hub]:
    """A server with our deployments; nothing runs by schedule, which would be in anybody's store."""
    with ExitStack() as stack:
        server = stack.enter_context(prefect_server(folder))
        deploy(server)
        server.prefect('deployment', 'schedule', 'pause', '--all')
        yield Hub(server=server, stack=stack)


@contextmanager
def scene(chain: Chain, over: Hub) -> Iterator[Scene]:
    """A store after its crawl, and a worker."""
    assert chain.run('crawl') == 0
    with ExitStack() as stack:
        made = Scene(chain=chain, hub=over, stack=stack)
        made.start_worker()
        yield made


def wait_for(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not met():
        assert time.monotonic() < deadline, 'it takes too long'
        time.sleep(0.1)
