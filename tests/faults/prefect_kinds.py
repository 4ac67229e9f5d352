"""The faults under a Prefect server: each starts a flow run and disturbs it, at a moment by seed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil

from tests.faults.kinds import struck
from tests.faults.prefect_scene import Scene, wait_for
from tests.flows.mining_runs import segments
from tests.git_server import Fault as GitFault

Disturb = Callable[[Scene, random.Random], str]

# From which the moment of a fault is counted, and the most seconds from there.
_STAGES: dict[str, tuple[Callable[[Scene], bool], float]] = {
    'flow': (lambda scene: bool(scene.flow()), 6.0),
    'job': (lambda scene: bool(scene.job()), 5.0),
    'segment': (lambda scene: segments(scene.chain.store) > 0, 2.0),
}


def kill_worker(scene: Scene, chance: random.Random) -> str:
    """kill -9 of the worker; its flow run lives on."""
    moment = _moment(scene, chance)
    _kill_worker(scene)
    return f'worker killed {moment}'


def kill_flow(scene: Scene, chance: random.Random) -> str:
    """kill -9 of the flow run's process; its worker sees it."""
    moment = _moment(scene, chance)
    return f'{_kill(scene.flow())} flow killed {moment}'


def kill_job(scene: Scene, chance: random.Random) -> str:
    """kill -9 of the process that works on the repository."""
    moment = _moment(scene, chance, ('job', 'segment'))
    return f'{_kill(scene.job())} job killed {moment}'


def kill_worker_and_flow(scene: Scene, chance: random.Random) -> str:
    """As if the worker's machine were gone: Prefect believes the run to go on."""
    moment = _moment(scene, chance)
    _kill_worker(scene)
    return f'worker and {_kill(scene.flow())} flow killed {moment}'


def kill_server(scene: Scene, chance: random.Random) -> str:
    """kill -9 of the server, which comes back some seconds later."""
    moment = _moment(scene, chance)
    scene.hub.kill()
    away = chance.uniform(0, 20)
    time.sleep(away)
    return f'server killed {moment}, away for {away:.1f} s'


def kill_all(scene: Scene, chance: random.Random) -> str:
    """kill -9 of server, worker and flow: a power cut."""
    moment = _moment(scene, chance)
    scene.hub.kill()
    _kill_worker(scene)
    return f'server, worker and {_kill(scene.flow())} flow killed {moment}'


def stop_worker(scene: Scene, chance: random.Random) -> str:
    """SIGTERM of the worker, as when a machine is updated."""
    moment = _moment(scene, chance)
    return f'worker told to end {moment}, status {scene.stop_worker()}'


def git_trouble(scene: Scene, chance: random.Random) -> str:
    """The Git server is gone in the middle of a clone, for more or fewer times than we try."""
    fault = GitFault(after=chance.randint(0, 4000), times=chance.randint(1, 12))
    times = fault.times
    with struck(scene.chain.stage.server.git.faults, fault):
        scene.run = scene.start()
        wait_for(scene.is_over)
    state = scene.server.state(scene.run)
    return f'gone after {fault.after} bytes, {times} times: {state["message"]}'


KINDS: dict[str, Disturb] = {
    'prefect_kill_worker': kill_worker,
    'prefect_kill_flow': kill_flow,
    'prefect_kill_job': kill_job,
    'prefect_kill_worker_and_flow': kill_worker_and_flow,
    'prefect_kill_server': kill_server,
    'prefect_kill_all': kill_all,
    'prefect_stop_worker': stop_worker,
    'prefect_git_trouble': git_trouble,
}


def _moment(scene: Scene, chance: random.Random, stages: Sequence[str] = tuple(_STAGES)) -> str:
    """Start the run, and wait for some time after one of its stages has begun."""
    stage = chance.choice(stages)
    begun, most = _STAGES[stage]
    later = chance.uniform(0, most)
    scene.run = scene.start()
    wait_for(lambda: begun(scene) or scene.is_over())
    time.sleep(later)
    return f'{later:.1f} s after its first {stage}'


def _kill_worker(scene: Scene) -> None:
    scene.worker.kill()
    scene.worker.wait()


def _kill(victims: list[psutil.Process]) -> int:
    """Kill them; how many there were."""
    for one in victims:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    return len(victims)
