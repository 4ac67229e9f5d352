"""The ten recipes, the notebook and the docstrings give the answers that are shown beside them."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import doctest
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import coevo
from coevo.display.presentation import render_answer
from coevo.storage.store import Store
from packagers.plan import BuiltTasks
from packagers.rows import Rows
from tests import segments, snapshots
from tests.manual.pages import ROOT, blocks

RECIPES = ROOT / 'docs/data.md'
NOTEBOOK = ROOT / 'docs/notebook.ipynb'
PROMPT = 'You are updating JUnit tests to reflect a production code change in this repository.\n'


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of three pairs that recipes and notebook are about, with prompts."""

    def build(rows: Rows) -> BuiltTasks:
        built = snapshots.build_family(rows)
        told = [dataclasses.replace(task, prompt=PROMPT) for task in built.tasks]
        return dataclasses.replace(built, tasks=told)

    folder = tmp_path_factory.mktemp('manual')
    store = Store(folder / 'store')
    segments.fill(store, 1, 2, 3)
    snapshots.write(store, folder / 'snapshot', build=build)
    return folder / 'snapshot'


@pytest.fixture
def beside(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with the snapshot in it."""
    shutil.copytree(made, tmp_path / 'snapshot')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))


def test_the_ten_recipes_give_the_answers_that_are_shown(made: Path) -> None:
    connection = coevo.open(made)
    questions, answers = (
        list(blocks(RECIPES, language, under='Ten recipes in SQL')) for language in ('sql', 'text')
    )
    assert len(questions) == len(answers) == 10
    for question, answer in zip(questions, answers, strict=True):
        assert render_answer(connection.sql(question.text), 'table').decode() == answer.text


@pytest.fixture
def checkout(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that the notebook names, seen from `docs`, with a snapshot in place of the
    demo's."""
    (tmp_path / 'docs').mkdir()
    (tmp_path / 'snapshots').symlink_to(ROOT / 'snapshots')
    shutil.copytree(made, tmp_path / 'demo/snapshot')
    monkeypatch.chdir(tmp_path / 'docs')
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))


@pytest.mark.usefixtures('checkout')
def test_the_notebook_shows_the_answers_of_the_released_month() -> None:
    space: dict[str, Any] = {}
    pictures = 0
    for cell in _list_code_cells():
        source = ''.join(cell['source'])
        if source.startswith('demo ='):
            break  # from here on it reads the snapshot that `make demo` writes
        said, value = _run(source, space)
        shown = {one['output_type']: one for one in cell['outputs']}
        assert said == ''.join(shown.get('stream', {}).get('text', []))
        data = shown.get('execute_result', {}).get('data', {})
        assert ''.join(data.get('text/plain', [])) == ('' if value is None else repr(value))
        if 'image/svg+xml' in data:
            assert ''.join(data['image/svg+xml']) == value._repr_svg_()
            pictures += 1
    assert pictures == 2


@pytest.mark.slow
@pytest.mark.usefixtures('checkout')
def test_the_notebook_runs_from_top_to_bottom() -> None:
    space: dict[str, Any] = {}
    for cell in _list_code_cells():
        _run(''.join(cell['source']), space)
    assert '\n+++ b/src/test/' in space['patch']
    assert [(track.track, track.macro.success.value) for track in space['report'].tracks] == [
        ('generation', 0.0),
        ('update', 0.0),
    ]


def _list_code_cells() -> list[dict[str, Any]]:
    cells = json.loads(NOTEBOOK.read_text())['cells']
    return [cell for cell in cells if cell['cell_type'] == 'code']


def _run(source: str, space: dict[str, Any]) -> tuple[str, Any]:
    """What a cell prints, and the value of its last line if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(ast.Module(body, []), 'cell', 'exec'), space)  # noqa: S102  # our own notebook
        value = last and eval(compile(ast.Expression(last.value), 'cell', 'eval'), space)
    return said.getvalue(), value


@pytest.mark.usefixtures('beside')
def test_the_doctests_of_the_public_functions_pass() -> None:
    found = doctest.testmod(coevo)
    assert found.attempted >= 4
    assert found.failed == 0
