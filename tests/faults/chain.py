"""Crawl, mine and release as commands, against a GitHub and a Git server on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.flows.crawling import validated
from tests.flows.mining_runs import COEVO, different
from tests.github_server.live import live
from tests.github_server.server import Server, serving
from tests.languages import toys
from tests.projects import junit, pom, source
from tests.repos import commit, git, init

NAME = 'ada/till'
MONTH = '2024-01'
TOKEN = 'ghp_neverShowThisOneInALog012345'
STEPS = ('crawl', 'mine', 'release')
_PATIENCE = 1800.0  # seconds of wall time for a step, on a busy machine


_ROOT = Path(__file__).parent.parent.parent
# Every Python that has it on its path knows the toy, and profiles of candidates that are toys.
EVERYWHERE = _ROOT / 'tests' / 'languages' / 'everywhere'

Files = dict[str, str | bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A language in which the month is played.

    pairs    of its one repository
    process  the name of what runs its tests in a sandbox
    lengths  seconds of wall time within which each step is over on an idle machine
    """

    name: str
    pairs: int
    step: Callable[[int], Files]
    process: str
    crawl: tuple[str, ...]
    lengths: Mapping[str, float]
    environment: Mapping[str, str]


def _of_java(number: int) -> Files:
    return {
        'pom.xml': pom(),
        'LICENSE': 'MIT License\n',
        **source('Till', f'    public static int last() {{ return {number}; }}\n'),
        **junit('TillTest', f'answers: assertEquals({number}, Till.last());'),
    }


def _of_toys(number: int) -> Files:
    return {
        **toys.BUILD,
        **toys.source('Till', f'last: {number}'),
        **toys.tests('Till', f'answers: is Till.last {number}'),
    }


JAVA = Actor(
    name='java',
    pairs=2,
    step=_of_java,
    process='java',
    crawl=(),
    lengths={'crawl': 3.0, 'mine': 15.0, 'release': 4.0},
    environment={},
)
TOY = Actor(
    name='toy',
    pairs=8,
    step=_of_toys,
    process='sh',
    crawl=('--profiles', str(EVERYWHERE / 'candidates.toml'), '--profile', 'toy'),
    lengths={'crawl': 2.0, 'mine': 5.0, 'release': 4.0},
    environment={'PYTHONPATH': os.pathsep.join((str(EVERYWHERE), str(_ROOT)))},
)
ACTORS = {one.name: one for one in (JAVA, TOY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What all runs share: the servers, so that addresses are the same, a folder and a language.

    lengths  seconds of wall time that each step takes undisturbed, here and now
    """

    folder: Path
    server: Server
    actor: Actor
    lengths: dict[str, float]

    @property
    def url(self) -> str:
        return f'{self.server.api}/git/{NAME}.git'


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """One run of the month in a folder of its own.

    more    added to the environment of every step
    before  words that each command begins with, such as `env --default-signal=INT`
    """

    stage: Stage
    folder: Path
    more: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()

    @property
    def store(self) -> Path:
        return self.folder / 'store'

    @property
    def work(self) -> Path:
        return self.folder / 'work'

    @property
    def snapshot(self) -> Path:
        return self.folder / 'snapshot'

    def start(self, step: str) -> subprocess.Popen[bytes]:
        """A step in a process of its own; what it says is kept in `log`."""
        self.work.mkdir(parents=True, exist_ok=True)
        if not self.store.exists():
            validated(self.store, NAME)  # its month holds valid repositories alone
        log = (self.folder / 'log').open('ab')
        with log:
            return subprocess.Popen(
                [*self.before, COEVO, *self._words(step)],
                env={**_environment(self), **self.more},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def run(self, step: str) -> int:
        """A step to its end; its status."""
        with self.start(step) as process:
            return process.wait(timeout=_PATIENCE)

    def run_all(self) -> tuple[int, ...]:
        """All steps; one that fails ends the chain, as a month would."""
        statuses: list[int] = []
        for step in STEPS:
            statuses.append(self.run(step))
            if statuses[-1]:
                break
        return tuple(statuses)

    def left_running(self, but: int = 0) -> list[str]:
        """Processes that still belong to this run a while after it ended; `but` is one that may."""
        deadline = time.monotonic() + 120
        while (found := self._processes(but)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def _processes(self, but: int) -> list[str]:
        return [_name(one) for one in processes_of(self.folder) if one.pid != but]

    def _words(self, step: str) -> tuple[str, ...]:
        store = ('--store', str(self.store))
        match step:
            case 'crawl':
                return (
                    'pipeline',
                    'crawl',
                    *store,
                    '--api',
                    self.stage.server.api,
                    *self.stage.actor.crawl,
                )
            case 'mine':
                quickly = ('--profile', 'quick', '--jobs', '1')
                return ('mine', self.stage.url, '--name', NAME, *store, *quickly)
        return ('release', *store, '--snapshot', str(self.snapshot), '--month', MONTH)


@contextmanager
def staged(folder: Path, actor: Actor = JAVA) -> Iterator[Stage]:
    """The servers over one repository, for as long as it is entered."""
    repositories = folder / 'repositories'
    _publish(repositories, actor)
    with serving(live(repositories, None)) as server:
        yield Stage(folder=folder, server=server, actor=actor, lengths=dict(actor.lengths))


def runners(process: subprocess.Popen[bytes], actor: Actor) -> list[psutil.Process]:
    """What a step has started that runs tests or builds, in sandboxes or not."""
    try:
        started = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [one for one in started if _name(one) == actor.process]


def same(one: Chain, other: Chain) -> list[str]:
    """Files of the snapshots that differ, timings aside; the manifest where one has none."""
    if not all((chain.snapshot / 'manifest.json').is_file() for chain in (one, other)):
        return ['manifest.json']
    return different(one.snapshot, other.snapshot)


def _publish(repositories: Path, actor: Actor) -> None:
    work = init(repositories.with_name('work-tree') / NAME)
    for number in range(actor.pairs + 1):
        commit(work, f'step {number}', actor.step(number), date=f'2024-01-01T{number:02}:00:00Z')
    bare = repositories / f'{NAME}.git'
    bare.parent.mkdir(parents=True)
    git(work, 'clone', '-q', '--bare', str(work), str(bare))
    shutil.rmtree(work)


def _environment(chain: Chain) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith('GIT')}
    own = {'COEVO_WORK': str(chain.work), 'GITHUB_TOKENS': TOKEN}
    return {**kept, **own, **chain.stage.actor.environment}


def processes_of(folder: Path) -> list[psutil.Process]:
    """Processes that name the folder in their words, or had it in their environment."""
    found = []
    for process in psutil.process_iter(['cmdline']):
        try:
            said = ' '.join(process.info['cmdline'] or ())
            if str(folder) in said or str(folder) in process.environ().get('COEVO_WORK', ''):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ''
