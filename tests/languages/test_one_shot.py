"""The one-shot baseline from its estimate to its score, on the suite of a toy."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.results import load_suites
from coevo.model.words import Walk
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.agents import model_server
from tests.agents.model_server import KEY, ModelServer, Turn
from tests.languages import toys
from tests.projects import QUICK, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

CODE = {**toys.BUILD, **toys.source('Till', 'price: 1', 'tax: 5')}
TESTS = toys.tests('Till', 'pays: is Till.price 1', 'taxes: is Till.tax 5')
ANSWER = 'Here it is:\n```toy\n[shop.TillTest]\npays: is Till.price 1\n```\nThat is all.'
KEYS = {'openai': 'OPENAI_API_KEY', 'anthropic': 'ANTHROPIC_API_KEY', 'gemini': 'GEMINI_API_KEY'}


@pytest.fixture(scope='module')
def place(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and its snapshot, of one task."""
    folder = tmp_path_factory.mktemp('one-shot')
    repository = write(folder / 'repository', [CODE, TESTS])
    profile = replace(QUICK, traces=True, measure_runs=100)
    toys.mined(repository, folder / 'store', walk=Walk.SINGLE_REVISION, profile=profile)
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder


def command(place: Path, out: Path, *more: str) -> list[str]:
    known = ['--store', str(place / 'store'), '--model', 'small-1', '--any-date', '--out', str(out)]
    return ['run', str(place / 'snapshot'), '--agent', 'one-shot', *known, *more]


def asked_of(model: ModelServer, *more: str) -> list[str]:
    return ['--endpoint', model.url, *more]


def prices(folder: Path) -> str:
    file = folder / 'prices.toml'
    file.write_text('["small"]\ninput = 1000.0\noutput = 2000.0\n')
    return str(file)


@pytest.mark.sampled(1)
@pytest.mark.parametrize('api', KEYS)
def test_one_command_runs_and_scores_an_endpoint(
    place: Path,
    tmp_path: Path,
    api: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(KEYS[api], KEY)
    scores = tmp_path / 'out' / 'results'
    with model_server.serving(lambda request: [Turn(text=ANSWER)]) as model:
        more = asked_of(model, '--api', api, '--prices', prices(tmp_path))
        assert main(command(place, tmp_path / 'out', *more)) == 0
        ((_, _, body),) = model.requests
    (row,) = load_suites(scores)
    assert (row.outcome, [one.test_method for one in row.tests]) == ('success', ['TillTest#pays'])
    asked = json.dumps(body)
    assert 'test_till.toy does not exist yet.' in asked
    assert all(line in asked for line in ('price: 1', 'tax: 5', '`shop.Till` in `till.toy`'))
    assert 'is Till.price' not in asked
    assert 'estimate: 1 task, about ' in capsys.readouterr().err
    (line,) = (tmp_path / 'out' / 'predictions.jsonl').read_text().splitlines()
    found = json.loads(line)
    assert (found['harness'], found['model'], found['tokens']) == ('one-shot', 'small-1', 1100)


def test_a_busy_endpoint_is_asked_again_when_it_says(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    more = settings(tmp_path, grade=False)
    with model_server.serving(lambda request: [Turn(text=ANSWER)]) as model:
        model.fails = 2
        assert main(command(place, tmp_path / 'out', *asked_of(model, *more))) == 0
        assert model.rounds() == 3
        assert not any('anthropic-version' in headers for _, headers, _ in model.requests)
        model.fails = 1000
        assert main(command(place, tmp_path / 'other', *asked_of(model, *more))) == 3
        assert model.rounds() == 3 + 6


WRONG = ANSWER.replace('price 1', 'price 3')


@pytest.mark.slow
def test_tam_eval_asks_three_times_with_its_sampling_prompt_and_feedback(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with model_server.serving(lambda request: [Turn(text=WRONG)]) as model:
        more = asked_of(model, '--protocol', 'tam-eval', '--only-family', 'class')
        assert main(command(place, tmp_path / 'out', *more)) == 0
        bodies = [body for _, _, body in model.requests]
    assert [(body['temperature'], body['max_tokens']) for body in bodies] == [(0.25, 7000)] * 3
    first, second, _ = (body['messages'][-1]['content'] for body in bodies)
    assert 'You are maintaining a toy test file of this repository.' in first
    assert 'Rewrite test_till.toy' in first
    assert 'which has none yet' not in first
    assert 'TillTest#pays: fail' in second
    lines = (tmp_path / 'out' / 'predictions.jsonl').read_text().splitlines()
    assert [(row['attempt'], row['protocol']) for row in map(json.loads, lines)] == [
        (number, 'feedback') for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ('more', 'said'),
    [
        (('--protocol', 'tam-eval', '--attempts', '2'), 'tam-eval sets attempts to 3'),
        (('--protocol', 'testevo'), 'testevo limits an attempt to 3 US dollars'),
        (('--protocol', 'ult', '--max-cost', '1'), 'ult sets no max_cost'),
        (('--only-family', 'file'), 'no task is left to attempt'),
    ],
)
def test_an_option_that_contradicts_the_protocol_is_refused(
    place: Path,
    tmp_path: Path,
    more: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command(place, tmp_path / 'out', *more)) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


def test_a_protocol_of_models_refuses_an_agent(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['run', str(place / 'snapshot'), '--agent', 'sh', '--out', str(tmp_path / 'out')]
    assert main([*words, '--protocol', 'ult']) == 2
    assert 'the protocol ult asks the model itself' in capsys.readouterr().err


def test_sampling_settings_reach_the_model_and_are_refused_for_other_agents(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    given = settings(tmp_path, temperature=0.5, max_tokens=300, grade=False)
    with model_server.serving(lambda request: [Turn(text=ANSWER)]) as model:
        assert main(command(place, tmp_path / 'out', *asked_of(model), *given)) == 0
        ((_, _, body),) = model.requests
    assert (body['temperature'], body['max_tokens']) == (0.5, 300)
    words = ['run', str(place / 'snapshot'), '--agent', 'sh', '--out', str(tmp_path / 'other')]
    assert main([*words, *given]) == 2
    assert 'temperature, max_tokens has no effect on sh' in capsys.readouterr().err


def test_an_estimate_needs_no_endpoint_and_sends_no_request(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ('--estimate', '--attempts', '3', '--prices', prices(tmp_path))
    assert main(command(place, tmp_path / 'out', *more)) == 0
    (line,) = capsys.readouterr().out.splitlines()
    shape = r'estimate: 1 task, at most 3 attempts each, about ([0-9,]+) tokens in and ([0-9,]+) out, \$(.*)'
    found = re.fullmatch(shape, line)
    assert found is not None, line
    tokens_in, tokens_out = (int(number.replace(',', '')) for number in found.groups()[:2])
    assert 600 < tokens_in < 3000
    assert tokens_out == 3 * math.ceil(len(TESTS['test_till.toy']) / 4)
    assert float(found[3]) == pytest.approx((tokens_in * 1000 + tokens_out * 2000) / 1e6, abs=0.01)
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('more', 'said'),
    [
        (('--software', '.'), 'one-shot comes with coevo; leave out --software'),
        (
            ('--api', 'morse'),
            'one-shot speaks openai, anthropic, gemini; choose one of these with --api',
        ),
    ],
)
def test_one_shot_refuses_incompatible_options(
    place: Path,
    tmp_path: Path,
    more: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    assert main(command(place, tmp_path / 'out', *more)) == 2
    assert said in capsys.readouterr().err


def test_an_estimate_of_another_agent_is_refused(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['run', str(place / 'snapshot'), '--agent', 'sh', '--out', str(tmp_path / 'out')]
    assert main([*words, '--estimate']) == 2
    assert 'leave out --estimate' in capsys.readouterr().err


@pytest.mark.slow
def test_an_answer_without_a_file_gives_a_failed_empty_patch(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with model_server.serving(lambda request: [Turn(text='I would rather not.')]) as model:
        assert main(command(place, tmp_path / 'out', *asked_of(model))) == 0
    (line,) = (tmp_path / 'out' / 'predictions.jsonl').read_text().splitlines()
    found = json.loads(line)
    assert (found['exit_status'], found['patch']) == ('failed', '')


def test_a_denied_api_key_ends_the_run_with_a_short_message(
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'another')
    with model_server.serving(lambda request: [Turn()]) as model:
        assert main(command(place, tmp_path / 'out', *asked_of(model))) == 2
    *told, last = capsys.readouterr().err.splitlines()
    assert 'denies access (status 401); check the key' in last
    assert [line.partition(':')[0] for line in told[1:]] == ['estimate']
