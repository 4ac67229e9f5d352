"""An agent stand-in from prompt to report: one task hits the cost cap, one attempt is killed half-way.

`python -m tests.agents.story` tells it over ten tasks; the tests check what it comes to.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.agents import model_server
from tests.agents.errands import Errands, released
from tests.agents.model_server import KEY, Json, ModelServer, Turn
from tests.flows.mining_runs import COEVO, wait_until
from tests.folders import open_folder
from tests.settings_files import settings

Say = Callable[[str], None]

MAX_COST = 0.7
PRICES = '["stand-in"]\ninput = 100.0\noutput = 1000.0\n'  # 0.2 dollars for a round
TESTS = 'mvn --batch-mode -Dmaven.test.failure.ignore test'
PATIENCE = 600
SLEEP = ('sleep', '3600.25')  # by which the agent's processes are found


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of it; rounds by task, before and after the kill.

    prompts   what the model was told, by task
    tested    what the agent saw of Maven's tests, without a network, in one of the tasks
    """

    errands: Errands
    out: Path
    costly: str
    killed: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    finished_before: frozenset[str]
    predictions: Mapping[str, Any]
    report: Json
    evaluation: Path
    tested: str
    prompts: Mapping[str, str]


def tell(folder: Path, number: int, say: Say = lambda line: None) -> Told:
    """Over so many tasks: the first is costly, the second runs its tests, the third is killed.

    folder  empty, and open to all users
    """
    errands = released(folder, number)
    say(f'{number} tasks were mined and released in {errands.snapshot}')
    model = _Model(errands)
    software = folder / 'agent'
    software.mkdir()
    (software / 'stand_in.py').write_bytes(Path(__file__).with_name('stand_in.py').read_bytes())
    (folder / 'prices.toml').write_text(PRICES)
    with model_server.serving(model.script) as server:
        command = _command(folder, errands, server)
        _kill_in_the_middle(command, model, folder / 'out', say)
        finished = frozenset(file.stem for file in (folder / 'out' / 'attempts').glob('*.json'))
        before = dict(model.rounds)
        say(f'killed with {len(finished)} attempts done; the same command again:')
        say(_run(command))
        after = {task: count - before.get(task, 0) for task, count in model.rounds.items()}
    predictions = folder / 'out' / 'predictions.jsonl'
    say(_run(_evaluate(folder, errands, predictions)))
    rows = [json.loads(line) for line in predictions.read_text().splitlines()]
    return Told(
        errands=errands,
        out=folder / 'out',
        costly=model.costly,
        killed=model.killed,
        before=before,
        after=after,
        finished_before=finished,
        predictions={row['task_id']: row for row in rows},
        report=json.loads((folder / 'out' / 'report.json').read_text()),
        evaluation=folder / 'evaluation',
        tested=model.tested,
        prompts=model.prompts,
    )


class _Model:
    """Knows gold by the prompt, and what each task is for."""

    def __init__(self, errands: Errands) -> None:
        self._tasks = {task.prompt: task for task in errands.tasks}
        self.costly, self.tests, self.killed = (task.task_id for task in errands.tasks[:3])
        self.asleep = threading.Event()
        self.rounds: Counter[str] = Counter()
        self.tested = ''
        self.prompts: dict[str, str] = {}

    def script(self, request: Json) -> Sequence[Turn]:
        told = request['messages'][0]['content']
        task = self._tasks[told]
        self.prompts[task.task_id] = told
        self.rounds[task.task_id] += 1
        patch = _shell(f"git apply - <<'END'\n{task.test_patch}END")
        if task.task_id == self.costly:
            return [*[_shell('true')] * 3, _shell('echo "<!-- half -->" >> pom.xml'), patch]
        if task.task_id == self.killed and not self.asleep.is_set():
            self.asleep.set()
            return [_shell(' '.join(SLEEP))]
        if task.task_id != self.tests:
            return [patch, Turn()]
        if len(request['messages']) == 5:
            self.tested = request['messages'][-1]['content'][0]['content']
        return [patch, _shell(TESTS), Turn()]


def _shell(command: str) -> Turn:
    return Turn(tool='sh', arguments={'command': command})


def _command(folder: Path, errands: Errands, server: ModelServer) -> list[str]:
    return [
        *(str(COEVO), 'run', str(errands.snapshot)),
        *('--agent', 'python3 /agent/stand_in.py', '--software', str(folder / 'agent')),
        *('--model', 'stand-in-1', '--any-date'),
        *settings(folder, harness='stand-in', grade=False),
        *('--api', 'anthropic', '--endpoint', server.url, '--key-env', 'STAND_IN_KEY'),
        *('--prices', str(folder / 'prices.toml'), '--max-cost', str(MAX_COST)),
        *('--store', str(errands.store), '--out', str(folder / 'out')),
    ]


def _evaluate(folder: Path, errands: Errands, predictions: Path) -> list[str]:
    return [
        *(str(COEVO), 'evaluate', str(errands.snapshot), str(predictions)),
        *('--store', str(errands.store), '--out', str(folder / 'evaluation'), '--jobs', '1'),
    ]


def _environment() -> dict[str, str]:
    return {**os.environ, 'STAND_IN_KEY': KEY}


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, env=_environment(), capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout


def _kill_in_the_middle(command: Sequence[str], model: _Model, out: Path, say: Say) -> None:
    """As soon as the round is billed in which the agent falls asleep; nothing of it may live on."""
    billed = out / 'rounds' / f'{model.killed}.jsonl'
    with subprocess.Popen(
        command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until(lambda: billed.exists() and billed.stat().st_size, process)
        process.send_signal(signal.SIGKILL)
        _, told = process.communicate()
    say(told.strip())
    deadline = time.monotonic() + 60
    while any(one.info['cmdline'] == list(SLEEP) for one in psutil.process_iter(['cmdline'])):
        assert time.monotonic() < deadline, 'the agent has outlived its sandbox'
        time.sleep(0.05)


def main() -> int:
    with open_folder() as folder:
        told = tell(folder, 10, print)
        for task_id, row in sorted(told.predictions.items()):
            print(task_id, row['exit_status'], row['cost_usd'], row['tokens'])
        print(json.dumps(told.report, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
