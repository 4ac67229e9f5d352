"""Crawl, validate, mine and release under a real server; then push, mine what is new, release again.

Everything lies in `demo/live`, or in the folder that is named. The last line is JSON; status 0 only if all that it promises held.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.results import load_results
from coevo.model.errors import Fatal
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.sole_use import NAME as LOCK, lock_for_sole_use_or_refuse
from tests.live_demo import history
from tests.prefect_server import ROOT, Server, deploy, logged, prefect_server, worker
from tests.settings_files import settings

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'demo' / 'live').absolute()
# The demo's GitHub takes any word for a token; that none is kept is what it is for.
TOKEN = 'ghp_theLiveDemosOwnToken0123456789'


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the steps of the demo share."""

    console: Console
    server: Server
    github: Path
    snapshots: Path

    def say(self, sentence: str) -> None:
        self.console.print(sentence, highlight=False)

    def run(self, deployment: str, **parameters: Any) -> str:
        """A run from its start to its end; its id."""
        began = time.monotonic()
        run = self.server.start(deployment, **parameters)
        message = self.server.wait(run)
        self.say(f'  {deployment}: {message} ({time.monotonic() - began:.0f} s)')
        return run

    def spread(self, verb: str, deployment: str, **parameters: Any) -> list[dict[str, Any]]:
        """A scheduled run now, and the runs of batches that it starts; what they did."""
        before = self.server.runs(f'{verb}/batch')
        self.run(f'spread/{deployment}', verb=verb, size=8, parameters=parameters)
        batches = [one for one in self.server.runs(f'{verb}/batch') if one not in before]
        for one in batches:
            self.say(f'  {verb}/batch: {self.server.wait(one)}')
        return [row for one in batches for row in self.server.tables(one)['repositories']]

    def release(self, name: str) -> int:
        """The number of tasks in a snapshot, which is verified."""
        run = self.run('release/monthly', month=name, name=name)
        assert not verify_snapshot(self.snapshots / name), f'{name} is not good'
        rows = {row['table']: row['rows'] for row in self.server.tables(run)['snapshot']}
        return int(rows['tasks'])

    def never_run(self) -> list[str]:
        """Deployments without a completed run; that of the reaper gives way to a scheduled one."""
        deadline = time.monotonic() + 300
        while (found := self.server.never_run()) == ['minutes']:
            assert time.monotonic() < deadline, 'the reaper never came to its end'
            state = self.server.over(self.server.start('reap/minutes'))
            self.say(f'  reap/minutes: {state["name"]}')
        return found

    def judged(self, name: str) -> int:
        """How many methods succeed with gold, judged in two parts."""
        out = str(FOLDER / 'results')
        asked = {'snapshot': str(self.snapshots / name), 'out': out, 'parts': 2}
        self.run('evaluate/whole', **asked, words=[*settings(FOLDER, adequacy=False)])
        for part in self.server.runs('evaluate-part/part'):
            self.say(f'  evaluate-part/part: {self.server.wait(part)}')
        rows = load_results(Path(out))
        return sum(row.outcome is TaskOutcome.SUCCESS for row in rows)


def main() -> int:
    """0 if all held, 1 if not, 2 where another one is at it, 130 where it was interrupted; nothing is left running."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console(width=120)
    found: dict[str, int] = {}
    try:
        with lock_for_sole_use_or_refuse(FOLDER), scene(console) as open_scene:
            for name, value in play(open_scene):
                found[name] = value
        held = expect(console, found) and not leaks(console)
    except AssertionError as error:
        console.print(f'live-demo: {error}; the logs are in {FOLDER}', highlight=False)
        held = False
    except Fatal as error:
        console.print(f'live-demo: {error}', highlight=False)
        return 2
    except KeyboardInterrupt:
        console.print('live-demo: interrupted; everything is stopped')
        return 130
    print(json.dumps({name: found.get(name) for name in expected()}))
    return 0 if held else 1


@contextmanager
def scene(console: Console) -> Iterator[Scene]:
    for one in FOLDER.iterdir():
        if one.name != LOCK:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    github, snapshots = FOLDER / 'github', FOLDER / 'snapshots'
    history.write(github)
    with ExitStack() as stack:
        api = stack.enter_context(_github(github))
        console.print(f'a GitHub with {len(history.GOOD) + 1} repositories answers at {api}')
        server = stack.enter_context(
            prefect_server(
                FOLDER / 'server',
                COEVO_STORE=str(FOLDER / 'store'),
                COEVO_SNAPSHOTS=str(snapshots),
                COEVO_GITHUB_API=api,
                GITHUB_TOKENS=TOKEN,
            )
        )
        console.print(f'a Prefect server answers at {server.api}')
        deploy(server)
        stack.enter_context(worker(server, 'worker'))
        yield Scene(console=console, server=server, github=github, snapshots=snapshots)


def play(scene: Scene) -> Iterator[tuple[str, int]]:
    """The figures, as they come."""
    scene.say('\nThe first month')
    crawled = scene.server.tables(scene.run('crawl/daily'))['crawl']
    yield 'found', sum(row['found'] for row in crawled)
    validated = scene.spread('validate', 'validations')
    yield 'valid', sum(row['valid'] for row in validated)
    for row in validated:
        scene.say(f'    {row["why"]}')
    first = scene.spread('mine', 'mining', profile='quick')
    yield 'mined', sum(row['outcome'] == 'done' for row in first)
    yield 'pairs_first', sum(row['executed now'] for row in first)
    yield 'tasks_first', scene.release('2024-01')
    history.push(scene.github)
    scene.say(f'\n{history.PUSHED} commits were pushed to {history.PUSHED_TO}: the next month')
    second = scene.spread('mine', 'mining', profile='quick')
    yield 'pairs_second', sum(row['executed now'] for row in second)
    scene.run('measure/waiting')
    yield 'tasks_second', scene.release('2024-02')
    scene.say('\nLabels are run again, gold is judged, and what nobody ran is looked for')
    again = scene.run('reverify/weekly', sample=2)
    yield 'not_held', len(scene.server.tables(again).get('reverified', ()))
    yield 'gold', scene.judged('2024-02')
    scene.run('crawl/tam-eval')
    yield 'never_run', len(scene.never_run())


def expected() -> dict[str, int]:
    """The figures that the histories give: each pair of theirs makes one task."""
    pairs = sum(history.GOOD.values())
    return {
        'found': len(history.GOOD) + 1,
        'valid': len(history.GOOD),
        'mined': len(history.GOOD),
        'pairs_first': pairs,
        'pairs_second': history.PUSHED,
        'tasks_first': pairs,
        'tasks_second': pairs + history.PUSHED,
        'not_held': 0,
        'gold': pairs + history.PUSHED,
        'never_run': 0,
    }


def expect(console: Console, found: dict[str, int]) -> bool:
    """Whether each figure is the expected one."""
    wrong = [
        f'{name}: {found.get(name)}, not {value}'
        for name, value in expected().items()
        if found.get(name) != value
    ]
    for sentence in wrong:
        console.print(f'live-demo: {sentence}', highlight=False)
    return not wrong


def leaks(console: Console) -> bool:
    """Whether any file holds the token: the store, logs, the server's database."""
    found = [
        path for path in FOLDER.rglob('*') if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]
    for path in found:
        console.print(f'live-demo: {path} holds the token', highlight=False)
    return bool(found)


@contextmanager
def _github(repositories: Path) -> Iterator[str]:
    """The tests' GitHub in a process of its own; its address."""
    command = (sys.executable, '-m', 'tests.github_server', '--repositories', str(repositories))
    log = FOLDER / 'github.log'
    with logged(log, command, dict(os.environ)) as process:
        yield _first_line(log, process)


def _first_line(log: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 120
    while not (text := log.read_text()).endswith('\n'):
        assert process.poll() is None, f'the GitHub of the demo ended: {text}'
        assert time.monotonic() < deadline, 'the GitHub of the demo does not answer'
        time.sleep(0.1)
    return text.strip().splitlines()[-1]


if __name__ == '__main__':
    raise SystemExit(main())
