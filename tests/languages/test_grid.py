"""`coevo run --grid` on the suite of a toy: two models, two prompts, and the developers' own tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coevo.command.main import main
from coevo.model.words import Walk
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.agents import model_server
from tests.agents.model_server import KEY, Json, ModelServer, Turn
from tests.languages import toys
from tests.projects import QUICK, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

CODE = {**toys.BUILD, **toys.source('Till', 'price: 1', 'tax: 5')}
TESTS = toys.tests('Till', 'pays: is Till.price 1', 'taxes: is Till.tax 5')
GOOD = '[shop.TillTest]\npays: is Till.price 1\n'
BAD = 'Look:\n```toy\n[shop.TillTest]\npays: is Till.nothing 1\nbuys: is Till.nothing 1\n```\n'

GRID = """\
llms:
  - model: human
  - model: openai/good-1
    temperature: 0
    api_base: {url}
  - model: anthropic/bad-1
    max_tokens: 99
    api_base: {url}
prompts:
  - name: zero-shot
    value:
      - role: system
        content: Reply with code only.
      - role: user
        content: "{{{{ class_under_test_name }}}} of {{{{class_under_test_path}}}}:\\n{{{{class_under_test}}}}"
  - name: few-shot
    value:
      - role: user
        content: "Like {{{{example}}}}, for {{{{test_file_path}}}}"
      - role: assistant
        content: Which class?
      - role: user
        content: "{{{{class_under_test}}}}{{{{shout}}}}"
variables:
  example: {{file: example.txt}}
  shout: "!"
"""


@pytest.fixture(scope='module')
def place(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and its snapshot, of one task."""
    folder = tmp_path_factory.mktemp('grid')
    repository = write(folder / 'repository', [CODE, TESTS])
    profile = replace(QUICK, traces=True, measure_runs=100)
    toys.mined(repository, folder / 'store', walk=Walk.SINGLE_REVISION, profile=profile)
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder


def grid(folder: Path, text: str = GRID, url: str = 'http://127.0.0.1:1') -> Path:
    (folder / 'example.txt').write_text('an example with {{price}}')
    (folder / 'grid.yaml').write_text(text.format(url=url))
    return folder / 'grid.yaml'


def command(
    place: Path, folder: Path, file: Path, *more: str, grade: bool = False, **values: object
) -> list[str]:
    given = settings(folder, grid=file, grade=grade, **values)
    known = ['--store', str(place / 'store'), '--out', str(folder / 'out'), '--jobs', '1']
    return ['run', str(place / 'snapshot'), *given, *known, *more]


def answers(request: Json) -> Sequence[Turn]:
    return [Turn(text=GOOD if request['model'] == 'good-1' else BAD)]


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    monkeypatch.setenv('ANTHROPIC_API_KEY', KEY)


def asked(model: ModelServer, name: str) -> list[Json]:
    return [body for _, _, body in model.requests if body['model'] == name]


@pytest.mark.slow
@pytest.mark.usefixtures('keys')
def test_each_model_gets_each_prompt_and_the_grid_gives_one_report(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server.serving(answers) as model:
        words = command(place, tmp_path, grid(tmp_path, url=model.url), grade=True)
        assert main(words) == 0
        _asks_as_the_file_says(model)
        _reports_what_came(tmp_path / 'out' / 'results')
        told = capsys.readouterr()
        assert 'bad-1/few-shot: estimate: 1 task, about ' in told.err
        assert 'cannot_find_symbol' in told.out
        rounds = model.rounds()
        assert main(words) == 0
        assert model.rounds() == rounds, 'what is done is not asked again'


def _asks_as_the_file_says(model: ModelServer) -> None:
    zero, few = asked(model, 'good-1')
    assert [one['role'] for one in zero['messages']] == ['system', 'user']
    assert zero['messages'][1]['content'].startswith(
        'shop.Till of till.toy:\n[shop.Till]\nprice: 1'
    )
    assert zero['temperature'] == 0
    assert 'max_tokens' not in zero
    # a text that looks like a variable is none
    assert few['messages'][0]['content'] == 'Like an example with {{price}}, for test_till.toy'
    assert few['messages'][2]['content'].endswith('tax: 5\n!')
    zero, few = asked(model, 'bad-1')
    assert (zero['system'], zero['max_tokens']) == ('Reply with code only.', 99)
    assert [one['role'] for one in zero['messages']] == ['user']
    assert 'temperature' not in zero
    assert 'is Till.price' not in json.dumps([body for _, _, body in model.requests])


def _reports_what_came(folder: Path) -> None:
    runs = json.loads((folder / 'grid.json').read_text())['runs']
    found = {(one['model'], one['prompt']): one['families'][0] for one in runs}
    assert list(found) == [
        ('human', None),
        ('openai/good-1', 'zero-shot'),
        ('openai/good-1', 'few-shot'),
        ('anthropic/bad-1', 'zero-shot'),
        ('anthropic/bad-1', 'few-shot'),
    ]
    human, good, bad = (
        found['human', None],
        found['openai/good-1', 'zero-shot'],
        found['anthropic/bad-1', 'few-shot'],
    )
    assert [one['builds']['value'] for one in (human, good, bad)] == [1.0, 1.0, 0.0]
    assert human['mutation']['over_all']['value'] == 1.0
    assert _averages(good['mutation']) == [(0.5, 1), (0.5, 1)]
    assert _averages(bad['mutation']) == [(0.0, 1), (None, 0)]
    # two tests lack the same name: one error of the suite
    assert bad['texts']['errors'] == {
        'cannot_find_symbol': {'suites': 1, 'errors': 1, 'codes': {'unknown': 1}}
    }
    assert (folder / 'openai-good-1' / 'few-shot' / 'suites.parquet').is_file()


def _averages(measure: dict[str, Any]) -> list[tuple[float | None, int]]:
    return [(measure[name]['value'], measure[name]['units']) for name in ('over_all', 'over_ran')]


@pytest.mark.slow
@pytest.mark.usefixtures('keys')
def test_a_changed_prompt_is_refused_in_the_same_folder_before_any_request(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server.serving(answers) as model:
        file = grid(tmp_path, url=model.url)
        assert main(command(place, tmp_path, file)) == 0
        rounds = model.rounds()
        (tmp_path / 'example.txt').write_text('another example')
        assert main(command(place, tmp_path, file)) == 2
        assert model.rounds() == rounds
    assert 'holds a run with template_sha256' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('old', 'new', 'sentence'),
    [
        ('openai/good-1', 'telepathy/good-1', "'telepathy/good-1' is not a known model"),
        ('openai/good-1', 'gpt-4o-mini', "'gpt-4o-mini' is not a known model"),
        ('  - model: openai/good-1\n    temperature', '  - temperature', 'llms[2] has no model'),
        ('temperature: 0', 'temperature: hot', 'llms[2].temperature must be a number from 0 to 2'),
        (
            'temperature: 0',
            'temprature: 0',
            "llms[2] has 'temprature', which is unknown; use one of model",
        ),
        ('anthropic/bad-1', 'openai/good-1', 'llms has openai-good-1 twice'),
        ('openai/good-1\n', 'groq/good-1\n    api_key_env: NOT_SET\n', '$NOT_SET is not set'),
        (
            '{{{{shout}}}}',
            '{{{{whisper}}}}',
            "prompt few-shot names 'whisper', which is unknown; use one of",
        ),
        ('role: system', 'role: oracle', 'prompts[1].value[1].role must be one of system, user'),
        ('name: few-shot', 'name: zero-shot', 'prompts has zero-shot twice'),
        ('name: few-shot', 'name: ../few', 'prompts[2].name may have only letters'),
        ('        content: Reply with code only.\n', '', 'prompts[1].value[1] has no content'),
        ('file: example.txt', 'file: not-there.txt', 'not-there.txt cannot be read'),
        ('  shout:', '  prompt:', 'variables: every task already has a variable prompt'),
        ('prompts:', 'prompts: [', 'is not valid YAML'),
        ('llms:', 'models:', 'the file has no llms'),
    ],
)
@pytest.mark.usefixtures('keys')
def test_an_invalid_grid_file_is_refused_in_one_sentence_before_any_run(
    place: Path,
    tmp_path: Path,
    old: str,
    new: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert old in GRID
    file = grid(tmp_path, GRID.replace(old, new))
    assert main(command(place, tmp_path, file)) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('more', 'sentence'),
    [
        (('--agent', 'one-shot'), 'leave out --agent'),
        (('--model', 'x', '--any-date'), 'leave out --model'),
        (('--attempts', '2', '--protocol', 'feedback'), 'only with the protocol `once`'),
        (('--protocol', 'tam-eval'), 'only with the protocol `once`'),
    ],
)
def test_options_that_conflict_with_the_grid_file_are_refused(
    place: Path,
    tmp_path: Path,
    more: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command(place, tmp_path, grid(tmp_path), *more)) == 2
    assert sentence in capsys.readouterr().err


def test_an_estimate_needs_no_api_key(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(place, tmp_path, grid(tmp_path), '--estimate')) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(':')[0] for line in lines] == [
        'openai-good-1/zero-shot',
        'openai-good-1/few-shot',
        'anthropic-bad-1/zero-shot',
        'anthropic-bad-1/few-shot',
    ]
    assert not (tmp_path / 'out').exists()
