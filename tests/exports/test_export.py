"""`coevo export` on a mined toy project: what is written, for whom, and from which answers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.model.words import Track
from flows.options import ReleaseOptions
from flows.publication import publish_release, write_code_free_edition
from tests.languages import toys
from tests.projects import write
from tests.repos import git

pytestmark = pytest.mark.usefixtures('toy')

STEPS: list[Mapping[str, str]] = [
    {
        **toys.BUILD,
        **toys.source('Till', 'price: 1'),
        **toys.source('Dock', 'berth: 4'),
        **toys.tests('Till', 'pays: is Till.price 1'),
        **toys.tests('Dock', 'berths: is Dock.berth 4'),
    },
    {
        **toys.source('Till', 'price: 2', 'tax: 5'),
        **toys.source('Dock', 'berth: 6'),
        **toys.tests('Till', 'pays: is Till.price 2', 'taxes: is Till.tax 5'),
        **toys.tests('Dock', 'berths: is Dock.berth 6'),
    },
]


@pytest.fixture(scope='module')
def place(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository, the store that it was mined into, a snapshot and an edition."""
    folder = tmp_path_factory.mktemp('export')
    repository = write(folder / 'repository', STEPS)
    toys.mined(repository, folder / 'store')
    options = ReleaseOptions(
        store=folder / 'store', snapshot=folder / 'snapshot', code_free=folder / 'edition'
    )
    publish_release(options)
    write_code_free_edition(options)
    return folder


@pytest.fixture(scope='module')
def run(place: Path) -> Path:
    """A graded run with two attempts at each task: gold, and gold with its expectations undone."""
    folder = place / 'run'
    folder.mkdir()
    answers = []
    for assignment in load_assignments(place / 'snapshot'):
        patch = assignment.task.test_patch
        wrong = ''.join(
            f'{line[:-1]}9\n' if line.startswith('+') and 'is ' in line else line
            for line in patch.splitlines(keepends=True)
        )
        known = {'task_id': assignment.task_id, 'model': 'm', 'harness': 'h'}
        answers += [
            {**known, 'attempt': 1, 'patch': wrong},
            {**known, 'attempt': 2, 'patch': patch},
        ]
    lines = [json.dumps(answer) for answer in answers]
    (folder / 'predictions.jsonl').write_text('\n'.join(lines) + '\n')
    words = ['evaluate', place / 'snapshot', folder / 'predictions.jsonl', '--jobs', '1']
    words += ['--clones', place / 'store', '--out', folder / 'results']
    assert main([str(word) for word in words]) == 0
    return folder


def export(place: Path, out: Path, form: str, *more: str | Path) -> int:
    words = ['export', place / 'snapshot', '--format', form, '--out', out, *more]
    return main([str(word) for word in words])


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_tasks_for_training_have_prompt_answer_and_dates(place: Path, tmp_path: Path) -> None:
    assert export(place, tmp_path / 'out', 'jsonl') == 0
    tasks = {each.task_id: each.task for each in load_assignments(place / 'snapshot')}
    lines = read(tmp_path / 'out/tasks.jsonl')
    assert {line['task_id'] for line in lines} == tasks.keys()
    assert {line['track'] for line in lines} >= {'update', 'generation'}
    for line in lines:
        task = tasks[line['task_id']]
        assert (line['prompt'], line['gold_patch']) == (task.prompt, task.test_patch)
        assert line['license'] == 'Apache-2.0'
        assert line['created_at'].startswith('20')
    assert not (tmp_path / 'out/attempts.jsonl').exists()
    sql = f"SELECT count(DISTINCT task_id) FROM read_json('{tmp_path / 'out/tasks.jsonl'}')"
    assert duckdb.sql(sql).fetchall() == [(len(tasks),)]


def test_equal_input_gives_equal_bytes(place: Path, run: Path, tmp_path: Path) -> None:
    for name in ('one', 'other'):
        assert export(place, tmp_path / name, 'jsonl', '--runs', run) == 0
    names = sorted(path.name for path in (tmp_path / 'one').iterdir())
    assert names == ['attempts.jsonl', 'preferences.jsonl', 'tasks.jsonl']
    for name in names:
        assert (tmp_path / 'one' / name).read_bytes() == (tmp_path / 'other' / name).read_bytes()


def test_better_attempt_is_chosen(place: Path, run: Path, tmp_path: Path) -> None:
    assert export(place, tmp_path / 'out', 'jsonl', '--runs', run) == 0
    tasks = {each.task_id: each.task for each in load_assignments(place / 'snapshot')}
    attempts = read(tmp_path / 'out/attempts.jsonl')
    assert [line['attempt'] for line in attempts] == [1, 2] * len(tasks)
    assert [line['rewards']['success'] for line in attempts] == [0.0, 1.0] * len(tasks)
    assert all(set(line['outcomes'].values()) == {'success'} for line in attempts[1::2])
    preferences = read(tmp_path / 'out/preferences.jsonl')
    assert {line['task_id'] for line in preferences} == tasks.keys()
    for line in preferences:
        task = tasks[line['task_id']]
        assert line['chosen'] == task.test_patch != line['rejected']
        assert line['prompt'] == task.prompt


def test_instance_gives_the_start_state_and_gold(place: Path, tmp_path: Path) -> None:
    """Base commit and start patch make the tree that `coevo checkout` writes."""
    assert export(place, tmp_path / 'out', 'swebench') == 0
    instances = read(tmp_path / 'out/instances.jsonl')
    assert instances
    for number, instance in enumerate(instances):
        folder, start = tmp_path / f'made-{number}', tmp_path / f'start-{number}'
        git(tmp_path, 'clone', '-q', str(place / 'repository'), str(folder))
        git(folder, 'checkout', '-q', instance['base_commit'])
        _apply(folder, instance['start_patch'])
        words = ['checkout', place / 'snapshot', instance['metadata']['task_id'], start]
        assert main([*map(str, words), '--clones', str(place / 'store')]) == 0
        assert _files(folder) == _files(start)
        _apply(folder, instance['patch'])
        path = instance['metadata']['test_file']
        gold = git(place / 'repository', 'show', f'{instance["base_commit"]}:{path}')
        assert (folder / path).read_text().rstrip('\n') == gold.rstrip('\n')
        methods = json.loads(instance['FAIL_TO_PASS']) + json.loads(instance['PASS_TO_PASS'])
        assert methods == instance['metadata']['test_methods']
        is_extension = instance['metadata']['track'] == Track.EXTENSION
        assert bool(json.loads(instance['PASS_TO_PASS'])) == is_extension


def test_bad_input_is_refused_and_nothing_written(
    place: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / 'out'
    for more, sentence in (
        (['swebench', '--runs', run], '--runs has no effect with --format swebench'),
        (['jsonl', '--runs', tmp_path], 'lacks predictions.jsonl or results'),
        (['jsonl', '--only-tasks', 'none'], "has no task 'none'"),
    ):
        assert export(place, out, str(more[0]), *more[1:]) == 2
        assert sentence in capsys.readouterr().err
        assert [*tmp_path.iterdir()] == []
    words = ['export', place / 'edition', '--format', 'jsonl', '--out', out]
    assert main([str(word) for word in words]) == 2
    assert 'code-free edition' in capsys.readouterr().err
    out.mkdir()
    assert export(place, out, 'jsonl') == 2
    assert 'already exists; name a new folder' in capsys.readouterr().err
    assert export(place, tmp_path / 'late', 'jsonl', '--only-after', '2999-01-01') == 1
    assert 'no task is left' in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == [out]


def _apply(folder: Path, patch: str) -> None:
    subprocess.run(['git', '-C', folder, 'apply', '-'], input=patch.encode(), check=True)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob('*')
        if path.is_file() and '.git' not in path.relative_to(folder).parts
    }
