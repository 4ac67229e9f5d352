"""Tasks of several repositories are built in processes of their own, as one process builds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.listener import Listener
from coevo.storage.store import Store
from flows import publication
from flows.clones import ReleaseClones
from flows.options import ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from flows.task_building import TaskBuilding
from packagers.assembly import select_rows_for_tasks
from packagers.rows import gather_rows
from tests import projects
from tests.coevo.languages.python.shops import PROJECT

NAMES = ('local/bakery', 'local/mill')


@pytest.fixture(scope='module')
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repositories, each with one update."""
    folder = tmp_path_factory.mktemp('building')
    for number, name in enumerate(NAMES):
        files = {
            'pyproject.toml': PROJECT,
            'LICENSE': 'Licensed under the Apache License, Version 2.0\n',
        }
        steps = [
            {
                **files,
                'till.py': make_code(2 + number),
                'tests/test_till.py': make_test(2 + number),
            },
            {'till.py': make_code(3 + number), 'tests/test_till.py': make_test(3 + number)},
        ]
        repository = projects.write(folder / name.replace('/', '-'), steps)
        options = projects.options(repository, folder / 'store')
        assert mine(replace(options, name=name)).tasks == 1
    return folder / 'store'


def make_code(price: int) -> str:
    return f'def pay(count):\n    total = count * {price}\n    return total\n'


def make_test(price: int) -> str:
    return f'from till import pay\n\n\ndef test_pay():\n    assert pay(7) == {7 * price}\n'


def read_folder(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob('*')
        if file.is_file()
    }


def test_processes_build_the_same_release_as_one_process(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publication, '_REPOS_PER_PROCESS', 1)
    wanted = (Family.IMPLEMENT, Family.MAINTENANCE)
    steps: list[tuple[str, int, int]] = []
    for name, jobs in (('alone', 1), ('several', 2)):
        options = ReleaseOptions(store=store, snapshot=tmp_path / name, jobs=jobs, families=wanted)
        publish_release(options, Listener(step=lambda *step: steps.append(step)))
    assert read_folder(tmp_path / 'several') == read_folder(tmp_path / 'alone')
    in_steps = [step for step in steps if step[0] == 'tasks']
    assert in_steps == [('tasks', done, 2) for done in (0, 1, 2)] * 2


@pytest.mark.parametrize('jobs', [1, 2])
def test_error_of_a_process_is_one_sentence(store: Path, tmp_path: Path, jobs: int) -> None:
    selected = select_rows_for_tasks(gather_rows(Store(store)), NAMES)
    rows = replace(
        selected, methods=tuple(replace(row, new_rev='f' * 40) for row in selected.methods)
    )
    with ReleaseClones(tmp_path, Store(store)) as clones:
        building = TaskBuilding(clones=clones, wanted=(), processes=jobs)
        with pytest.raises(Fatal, match='missing or corrupt in the clone'):
            list(building.build_families([rows] * 12))
