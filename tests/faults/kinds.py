"""The faults: each disturbs one run of the chain, at a moment that a seed decides.

A fault takes a chain that has not begun and a source of chance, runs the chain as far as the fault
lets it, and says what it did. What went wrong is gone when it returns.
"""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import psutil

from coevo.sandboxes.clock import find_libraries
from tests.faults.chain import STEPS, Chain, runners
from tests.git_server import Fault as GitFault
from tests.github_server.faults import Fault as ApiFault

Disturb = Callable[[Chain, random.Random], str]

_Fault = TypeVar('_Fault')


def kill_flow(chain: Chain, chance: random.Random) -> str:
    """kill -9 of coevo itself, at any moment of any step."""
    victim = chance.choice(STEPS)
    moment = chance.uniform(0, chain.stage.lengths[victim])
    for step in STEPS[: STEPS.index(victim)]:
        assert chain.run(step) == 0
    with chain.start(victim) as process:
        _end_after(process, moment)
    return f'{victim} killed after {moment:.1f} s'


def kill_runner(chain: Chain, chance: random.Random) -> str:
    """kill -9 of a process that runs tests in a sandbox (a JVM), once to four times."""
    assert chain.run('crawl') == 0
    actor, wanted, killed = chain.stage.actor, chance.randint(1, 4), 0
    with chain.start('mine') as process:
        time.sleep(chance.uniform(0, chain.stage.lengths['mine'] / 5))
        while process.poll() is None and killed < wanted:
            victims = runners(process, actor)
            if victims:
                with suppress(psutil.NoSuchProcess):
                    chance.choice(victims).kill()
                killed += 1
                time.sleep(chance.uniform(0.2, 2) * chain.stage.lengths['mine'] / 15)
            time.sleep(0.01)
    return f'{killed} runners killed, status {process.returncode}'


def disk_full(chain: Chain, chance: random.Random) -> str:
    """A store, or a work folder, on a file system that is too small."""
    name, most = chance.choice((('store', 90), ('work', 200)))
    size = chance.randint(1, most)
    with _small_disk(chain.folder / name, size):
        statuses = chain.run_all()
    return f'{name} of {size} KiB, statuses {statuses}'


def api_trouble(chain: Chain, chance: random.Random) -> str:
    """GitHub refuses, is slow, breaks off or answers rubbish, for some of the next requests."""
    server = chain.stage.server
    fault = chance.choice(
        (
            ApiFault(kind='primary', seconds=1),
            ApiFault(kind='secondary', status=403),
            ApiFault(kind='secondary', status=429),
            ApiFault(kind='status', status=502),
            ApiFault(kind='status', status=503),
            ApiFault(kind='hang', seconds=2),
            ApiFault(kind='reset'),
            ApiFault(kind='half'),
            ApiFault(kind='garbage'),
            ApiFault(kind='incomplete', path='/search/'),
        )
    )
    fault = replace(fault, times=chance.randint(1, 6), skip=chance.randint(0, 3))
    with struck(server.faults, fault):
        statuses = chain.run_all()
    return f'{fault.kind} {fault.status} {fault.path}, statuses {statuses}'


def git_trouble(chain: Chain, chance: random.Random) -> str:
    """The Git server is gone in the middle of a clone, refuses, or falls silent."""
    status = chance.choice((None, None, None, 403, 404, 502, 503))
    fault = GitFault(status=status, after=chance.randint(0, 4000), times=chance.randint(1, 5))
    with struck(chain.stage.server.git.faults, fault):
        statuses = chain.run_all()
    how = f'status {status}' if status else f'gone after {fault.after} bytes'
    return f'{how}, statuses {statuses}'


def clock_jump(chain: Chain, chance: random.Random) -> str:
    """The machine's clock jumps by up to a year while a step runs."""
    jump = chance.choice((-1, 1)) * chance.randint(60, 365 * 86400)
    victim, moment = chance.choice(STEPS), chance.uniform(0, 5)
    file = chain.folder / 'clock'
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('+0')
    statuses: list[int] = []
    jumping = replace(chain, more=_jumping(file))
    for step in STEPS:
        with jumping.start(step) as process:
            if step == victim:
                _wait(process, moment)
                file.write_text(f'{jump:+d}')
            statuses.append(process.wait())
    return f'{jump:+d} s at {moment:.1f} s of {victim}, statuses {tuple(statuses)}'


def interrupt(chain: Chain, chance: random.Random) -> str:
    """Ctrl-C, or SIGTERM, at any moment of mining."""
    assert chain.run('crawl') == 0
    what = chance.choice((signal.SIGINT, signal.SIGTERM))
    moment = chance.uniform(0, chain.stage.lengths['mine'])
    # Whoever runs this in the background has told all that it starts to ignore Ctrl-C.
    heeding = replace(chain, before=('env', '--default-signal=INT'))
    with heeding.start('mine') as process:
        _end_after(process, moment, what)
    return f'{what.name} after {moment:.1f} s, status {process.returncode}'


KINDS: dict[str, Disturb] = {
    'kill_flow': kill_flow,
    'kill_runner': kill_runner,
    'disk_full': disk_full,
    'api_trouble': api_trouble,
    'git_trouble': git_trouble,
    'clock_jump': clock_jump,
    'interrupt': interrupt,
}


@contextmanager
def struck(faults: list[_Fault], fault: _Fault) -> Iterator[None]:
    """While entered, a server has this fault."""
    faults.append(fault)
    try:
        yield
    finally:
        faults.clear()


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return


def _end_after(
    process: subprocess.Popen[bytes], seconds: float, what: signal.Signals = signal.SIGKILL
) -> None:
    _wait(process, seconds)
    if process.poll() is None:
        process.send_signal(what)
    process.wait()


@contextmanager
def _small_disk(folder: Path, kib: int) -> Iterator[None]:
    """A folder with room for so much; what lies there in the end stays there."""
    folder.mkdir(parents=True)
    subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', f'size={kib}k,mode=711', 'coevo-fault', folder], check=True
    )
    aside = folder.with_name(f'{folder.name}-aside')
    try:
        yield
        subprocess.run(['cp', '-a', folder, aside], check=True)
    finally:
        subprocess.run(['umount', '-l', folder], check=True)
    folder.rmdir()
    aside.rename(folder)


def _jumping(file: Path) -> dict[str, str]:
    found = find_libraries()
    assert found, 'clocks cannot jump without libfaketime'
    return {
        'LD_PRELOAD': str(found[0]),
        'FAKETIME_TIMESTAMP_FILE': str(file),
        'FAKETIME_NO_CACHE': '1',
        'FAKETIME_DONT_FAKE_MONOTONIC': '1',
    }
