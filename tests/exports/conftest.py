from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.options import verify_and_get_sha256
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from tests.folders import open_folder
from tests.languages import toys
from tests.languages.table import known_toy
from tests.repos import commit, init

FAILING = 'is Till.price 5'


@dataclass(frozen=True, slots=True, kw_only=True)
class Toys:
    """A released snapshot of toys with an update and a generation, its store, and graded answers.

    run  a folder as `coevo run` leaves it: gold, twice a failing file, and a file of another task
    """

    folder: Path
    tasks: dict[Track, TaskRow]

    @property
    def snapshot(self) -> str:
        return str(self.folder / 'snapshot')

    @property
    def store(self) -> str:
        return str(self.folder / 'store')

    @property
    def run(self) -> Path:
        return self.folder / 'run'

    def export(self, out: Path, *words: str) -> int:
        words = ('export', self.snapshot, '--out', str(out), '--store', self.store, *words)
        return main(words)


@pytest.fixture(scope='session')
def toy_tasks() -> Iterator[Toys]:
    with open_folder() as folder, known_toy():
        source = init(folder / 'source')
        for price, tests in ((1, ['sells']), (2, ['sells', 'sells_again'])):
            files = {
                **toys.BUILD,
                **toys.source('Till', f'price: {price}'),
                **toys.tests('Till', *(f'{name}: is Till.price {price}' for name in tests)),
                'LICENSE': (Path(__file__).parents[2] / 'LICENSE').read_text(),
            }
            commit(source, f'cost {price}', files, date=f'2024-0{price}-01T00:00:00Z')
        store, snapshot = str(folder / 'store'), str(folder / 'snapshot')
        assert main(['mine', str(source), '--name', 'me/toys', '--store', store]) == 0
        release = ['release', '--store', store, '--snapshot', snapshot]
        edition = ['--code-free', str(folder / 'code-free')]
        assert main([*release, *edition]) == 0
        found = load_assignments(snapshot)
        tasks = {one.task.track: one.task for one in found if not one.asks_for_suite}
        toy = Toys(folder=folder, tasks=tasks)
        _answer(toy)
        yield toy


def _answer(toy: Toys) -> None:
    """Grade answers as `coevo run` does."""
    update = toy.tasks[Track.UPDATE]
    (wrong,) = toys.tests('Till', f'sells: {FAILING}').values()
    answers = [{'patch': update.test_patch}, {'file': wrong}, {'file': wrong}]
    toy.run.mkdir()
    lines = [
        json.dumps({'task_id': update.task_id, 'attempt': n, 'model': 'm', **answer}) + '\n'
        for n, answer in enumerate(answers, 1)
    ]
    (toy.run / 'predictions.jsonl').write_text(''.join(lines))
    words = ['evaluate', toy.snapshot, str(toy.run / 'predictions.jsonl'), '--store', toy.store]
    ids = ['--only-tasks', update.task_id]
    assert main([*words, *ids, '--out', str(toy.run / 'results')]) == 0
    assert verify_and_get_sha256(toy.snapshot)
    shutil.copytree(toy.run / 'results', toy.folder / 'results alone' / 'results')
