"""A run of a model when one repository is gone: its tasks are left out, and all others are graded."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from coevo.command.main import main
from tests.agents import model_server
from tests.agents.model_server import Json, ModelServer, Turn
from tests.git_server import Fault
from tests.packagers.test_filling import World, _own_cache, task_of, withheld, world
from tests.repos import git

__all__ = ['_own_cache', 'world']

pytestmark = pytest.mark.usefixtures('toy')


@pytest.fixture
def model(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """An endpoint that answers with the developers' own file."""

    def answer(request: Json) -> Sequence[Turn]:
        prompt = request['messages'][-1]['content']
        (rev,) = re.findall(r'Pinned commit: (\w+)', prompt)
        (name,) = set(re.findall(r'test_(\w+)\.toy', prompt))
        text = git(world.served / 'example' / name, 'show', f'{rev}:test_{name}.toy')
        return [Turn(text=f'```toy\n{text}\n```\n')]

    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    with model_server.serving(answer) as server:
        server.key = None
        yield server


@pytest.fixture
def without_ferry(world: World) -> Iterator[World]:
    """The same world, but its server knows no ferry."""
    world.backend.faults.append(Fault(path='ferry', status=404, times=None))
    yield world
    world.backend.faults.clear()


def command(place: Path, model: ModelServer, out: Path) -> list[str]:
    known = ['--model', 'small-1', '--endpoint', f'{model.url}/v1', '--any-date']
    return ['run', str(place), *known, '--out', str(out)]


def copied(world: World, folder: Path) -> Path:
    return Path(shutil.copytree(world.edition, folder / 'month/code-free'))


def test_task_of_a_repository_that_is_gone_is_left_out_of_a_run_with_what_git_said(
    without_ferry: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edition = copied(without_ferry, tmp_path)
    assert main(command(edition, model, tmp_path / 'out')) == 0
    said = capsys.readouterr()
    assert re.match(r'success 2 of 2, .* tokens, 1 left out\n', said.out), said.out
    assert 'example/ferry: ' in said.err
    assert 'has no such repository' in said.err
    assert 'Git said: ' in said.err
    ferry = task_of(edition, 'example/ferry')
    assert (
        f'1 task left out without these texts, which the same command asks for again: {ferry}\n'
        in (said.err)
    )
    assert withheld(edition.with_name('whole'))['example/ferry'] is True
    # The same command goes on once it is back.
    without_ferry.backend.faults.clear()
    assert main(command(edition, model, tmp_path / 'out')) == 0
    assert re.match(r'success 3 of 3, .* tokens\n', capsys.readouterr().out)
    assert model.rounds() == 3


def test_run_without_the_texts_of_any_task_ends_with_what_git_said(
    without_ferry: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edition = copied(without_ferry, tmp_path)
    words = command(edition, model, tmp_path / 'out')
    assert main([*words, '--only-tasks', task_of(edition, 'example/ferry')]) == 3
    said = capsys.readouterr()
    assert 'has no such repository' in said.err.splitlines()[-1]
    assert (
        'no task is left: name a folder that has clones with --clones' in said.err.splitlines()[-1]
    )
    assert not said.out
    assert model.rounds() == 0


@pytest.mark.slow
def test_tasks_that_could_be_attempted_are_graded_before_a_run_says_which_could_not(
    without_ferry: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(without_ferry.whole, model, tmp_path / 'out')) == 3
    said = capsys.readouterr()
    assert re.match(r'success 2 of 2, .* tokens, 1 left out\n', said.out), said.out
    assert '1 of 3 tasks could not be attempted' in said.err.splitlines()[-1]
    without_ferry.backend.faults.clear()
    assert main(command(without_ferry.whole, model, tmp_path / 'out')) == 0
    assert re.match(r'success 3 of 3, .* tokens\n', capsys.readouterr().out)
    assert model.rounds() == 3
