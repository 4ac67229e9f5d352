"""`coevo run` from a month to its line of result: on toys, against a scripted endpoint that wants no key."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import coevo
from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.results import load_results
from flows.options import ReleaseOptions
from flows.publication import publish_release, write_code_free_edition
from tests.agents import model_server
from tests.agents.model_server import Json, ModelServer, Turn
from tests.languages import toys
from tests.projects import QUICK, write
from tests.raw_server import Said, saying
from tests.repos import git
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

MODEL = 'small-1'
RESULT = r'success 2 of 2, strict unknown, \d+ s, 2,200 tokens\n'
HISTORY = [
    {
        **toys.BUILD,
        **toys.source('Till', f'price: {price}', 'stays: 9'),
        **toys.tests('Till', f'sells: is Till.price {price}', 'stays: is Till.stays 9'),
    }
    for price in (1, 2, 3)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A repository with two updates, its store, its release, and an edition without texts."""

    repository: Path
    store: Path
    release: Path
    edition: Path

    def script(self, request: Json) -> Sequence[Turn]:
        """The developers' own file, for the commit that the prompt names."""
        told = request['messages'][-1]['content']
        (rev,) = re.findall(r'Pinned commit: (\w+)', told)
        text = git(self.repository, 'show', f'{rev}:test_till.toy')
        return [Turn(text=f'Here it is:\n```toy\n{text}\n```\nThat is all.')]

    def command(self, place: Path, endpoint: str, out: Path, *more: str) -> list[str]:
        known = ['--model', MODEL, '--endpoint', f'{endpoint}/v1', '--any-date']
        return ['run', str(place), *known, '--store', str(self.store), '--out', str(out), *more]


@pytest.fixture(scope='module')
def world(toy: None, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp('model-runs')
    repository = write(folder / 'repository', HISTORY)
    profile = replace(QUICK, traces=True, measure_runs=100)
    toys.mined(repository, folder / 'store', profile=profile)
    options = ReleaseOptions(
        store=folder / 'store', snapshot=folder / 'release', code_free=folder / 'month/code-free'
    )
    publish_release(options)
    write_code_free_edition(options)
    return World(
        repository=repository,
        store=folder / 'store',
        release=folder / 'release',
        edition=folder / 'month/code-free',
    )


@pytest.fixture
def model(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    with model_server.serving(world.script) as server:
        server.key = None
        yield server


def filled(place: Path) -> list[bool]:
    """Whether each task of a snapshot has its texts."""
    return [
        not row[0] for row in coevo.open(place).sql('SELECT texts_withheld FROM tasks').fetchall()
    ]


def test_one_command_goes_from_a_snapshot_to_a_line_of_result(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / 'out'
    command = world.command(world.release, model.url, out)
    assert main(command) == 0
    said = capsys.readouterr()
    assert re.fullmatch(RESULT, said.out), said.out
    for line in (
        '2 of 2: ',
        'grading 2 tasks',
        'tasks: 2 of 2',
        f'`coevo report {out}` prints the full report',
    ):
        assert line in said.err
    assert [headers.get('Authorization') for _, headers, _ in model.requests] == [None, None]
    # the same command again asks nothing, judges nothing, and says the same
    assert main(command) == 0
    assert capsys.readouterr().out == said.out
    assert model.rounds() == 2
    assert main(['report', str(out)]) == 0
    assert 'Test update on 2 methods across 2 tasks' in capsys.readouterr().out


def test_the_question_speaks_of_no_tools(world: World, model: ModelServer, tmp_path: Path) -> None:
    more = ('--limit', '1', *settings(tmp_path, grade=False))
    assert main(world.command(world.release, model.url, tmp_path / 'out', *more)) == 0
    ((_, _, body),) = model.requests
    asked = body['messages'][0]['content']
    assert 'tools' not in asked
    assert 'git diff' not in asked
    assert 'Do NOT modify production code. Only modify test_till.toy.' in asked
    assert '\n\nYou have one answer. The files are:\n\ntest_till.toy:\n' in asked


@pytest.mark.slow
def test_a_limited_run_of_an_edition_fetches_the_texts_of_its_tasks_alone(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = world.edition.with_name('whole')
    command = world.command(world.edition.parent, model.url, tmp_path / 'out')
    assert main([*command, '--limit', '1']) == 0
    said = capsys.readouterr()
    assert said.out.startswith('success 1 of 1, strict unknown, ')
    assert f'fetching the texts of 1 task into {whole}' in said.err
    assert sorted(filled(whole)) == [False, True]
    assert model.rounds() == 1
    # all tasks: the rest is fetched and asked
    assert main(command) == 0
    assert capsys.readouterr().out.startswith('success 2 of 2, strict unknown, ')
    assert filled(whole) == [True, True]
    assert model.rounds() == 2


@pytest.mark.slow
def test_a_run_is_a_submission_that_its_own_check_accepts(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, check = tmp_path / 'out', ['submit', '--snapshot', str(world.release), '--check']
    assert main(world.command(world.release, model.url, out)) == 0
    assert main([*check, str(out)]) == 2
    assert f'`coevo submit --new {out}` writes it' in capsys.readouterr().err
    assert main(['submit', '--new', str(out), '--contact', 'me@example.org']) == 2
    assert 'was not written; it still needs a page' in capsys.readouterr().err
    assert not (out / 'submission.json').exists()
    said = ('--contact', 'me@example.org', '--url', 'https://example.org/small')
    assert main(['submit', '--new', str(out), *said]) == 0
    assert main([*check, str(out)]) == 0, capsys.readouterr().out
    logs = [
        line for file in (out / 'logs').glob('*.jsonl') for line in file.read_text().split('\n')
    ]
    assert sum('is Till.price 2' in line and '"said"' in line for line in logs) == 1
    # what the settings say is written by the run itself
    given = settings(tmp_path, contact='me@example.org', url='https://example.org/small')
    assert main(world.command(world.release, model.url, tmp_path / 'sub', *given)) == 0
    assert main([*check, str(tmp_path / 'sub')]) == 0, capsys.readouterr().out
    files = [tmp_path / name / 'submission.json' for name in ('out', 'sub')]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_submission_is_evaluated_on_its_own_tasks_whatever_was_fetched(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing was fetched its texts are; where more is there, it is no part of it."""
    month, out = str(shutil.copytree(world.edition.parent, tmp_path / 'month')), tmp_path / 'out'
    assert main(world.command(Path(month), model.url, out, '--limit', '1')) == 0
    said = ('--contact', 'me@example.org', '--url', 'https://example.org/small')
    assert main(['submit', '--new', str(out), *said]) == 0
    shutil.rmtree(tmp_path / 'month/whole')
    capsys.readouterr()
    words = ['evaluate', month, str(out), '--store', str(world.store), '--out']
    assert main([*words, str(tmp_path / 'again')]) == 0
    told = capsys.readouterr()
    assert 'the outcomes match the submission' in ' '.join(told.out.split())
    assert 'fetching the texts of 1 task into' in told.err
    assert f'about 1 of the 2 tasks of {month} and leaves out 1' in told.err
    assert main(['get', month, '--clones', str(world.store)]) == 0
    assert main([*words, str(tmp_path / 'third')]) == 0
    assert 'the outcomes match the submission' in ' '.join(capsys.readouterr().out.split())
    # an option that selects some of its tasks leaves nothing to compare
    assert main([*words, str(tmp_path / 'late'), '--only-after', '2000-01']) == 0
    told = capsys.readouterr()
    assert 'the results of the submission are not compared' in told.err
    assert 'of the submission' not in told.out
    assert 'the tasks of the submission are graded' not in told.err
    # what it answers and does not show in its results is graded, too
    lines = (out / 'predictions.jsonl').read_text()
    (other,) = {
        row[0] for row in coevo.open(world.release).sql('SELECT task_id FROM tasks').fetchall()
    } - {json.loads(lines)['task_id']}
    (out / 'predictions.jsonl').write_text(
        lines + json.dumps({**json.loads(lines), 'task_id': other, 'patch': ''}) + '\n'
    )
    assert main([*words, str(tmp_path / 'fourth')]) == 1
    assert 'results of other test methods' in ' '.join(capsys.readouterr().out.split())


def test_answers_to_an_edition_are_graded_alike_whatever_was_fetched(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    month = Path(shutil.copytree(world.edition.parent, tmp_path / 'month'))
    edition, clones = str(month / 'code-free'), ('--clones', str(world.store))
    answered, other = (task.task_id for task in load_assignments(world.release))
    predictions = tmp_path / 'predictions.jsonl'
    predictions.write_text(json.dumps({'task_id': answered, 'patch': '--- a'}))

    def list_graded(place: str, out: str) -> tuple[set[str], str]:
        """Return the tasks in the results, and what was said."""
        words = ['evaluate', place, str(predictions), *clones, '--out', str(tmp_path / out)]
        assert main(words) == 0
        rows = load_results(tmp_path / out)
        return {row.task_id for row in rows}, capsys.readouterr().err

    graded, said = list_graded(edition, 'first')
    assert graded == {answered}
    assert '1 of 2 tasks without a prediction are not counted' in said
    assert f'`coevo get {edition}` and evaluate {month / "whole"}' in said
    assert main(['get', edition, *clones, '--only-tasks', other]) == 0
    assert list_graded(edition, 'second')[0] == {answered}
    assert main(['get', edition, *clones]) == 0
    assert list_graded(edition, 'third')[0] == {answered}
    assert list_graded(str(month / 'whole'), 'all')[0] == {answered, other}


@pytest.mark.slow
def test_an_endpoint_without_counts_of_tokens_is_graded(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.states_usage = False
    assert main(world.command(world.release, model.url, tmp_path / 'out', '--limit', '1')) == 0
    assert re.search(
        r'success 1 of 1, strict unknown, \d+ s, tokens unknown', capsys.readouterr().out
    )


# -- cutoffs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ((), "no training cutoff of 'small-1' is known"),
        (('--only-unseen-by', 'small-2'), "no training cutoff of 'small-2' is known"),
        (('--only-after', '2024-06'), 'no task is left to attempt after 2024-06'),
        (('--any-date', '--only-after', '2023'), '--any-date selects all tasks'),
    ],
)
def test_a_run_without_a_usable_cutoff_is_refused(
    world: World,
    tmp_path: Path,
    words: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ['run', str(world.release), '--model', MODEL, '--out', str(tmp_path / 'out'), *words]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count('\n') == 1
    assert not (tmp_path / 'out').exists()


def test_tasks_before_the_cutoff_of_the_model_are_left_out_by_default(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first of the two changes was public at one o'clock on 1 January 2024, and so was the second."""
    command = [
        *('run', str(world.release), '--model', MODEL, '--endpoint', model.url),
        *('--store', str(world.store), '--out', str(tmp_path / 'out'), '--estimate'),
    ]
    for cutoff, status in (('2023-12', 0), ('2024-01', 2)):
        models = tmp_path / 'models.toml'
        models.write_text(
            f'[[models]]\nnames = ["{MODEL}"]\ncutoff = "{cutoff}"\nsource = "our notes"\n'
        )
        assert main([*command, *settings(tmp_path, models=models)]) == status
    said = capsys.readouterr()
    assert said.out.startswith('estimate: 2 tasks, ')
    assert 'no task is left to attempt after 2024-01 (small-1, says our notes)' in said.err


def test_named_tasks_that_another_option_leaves_out_are_named_with_the_reason(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dated = coevo.open(world.release).sql('SELECT task_id FROM tasks ORDER BY new_committer_date')
    task_ids = [row[0] for row in dated.fetchall()]
    command = [
        *('run', str(world.release), '--model', MODEL, '--endpoint', model.url),
        *('--store', str(world.store), '--out', str(tmp_path / 'out'), '--estimate'),
        *('--only-tasks', *task_ids),
    ]
    assert main([*command, '--only-after', '2023']) == 2  # no date: nothing is said before
    assert main([*command, '--only-after', '2023-12', '--only-family', 'coevolution']) == 0
    assert 'left out' not in capsys.readouterr().err
    assert main([*command, '--only-after', '2023-12', '--limit', '1']) == 0
    assert f'left out, beyond --limit 1: {task_ids[1]}\n' in capsys.readouterr().err
    words = ['evaluate', str(world.release), 'gold', '--out', str(tmp_path / 'gold')]
    words += ['--only-tasks', *task_ids, '--only-after', '2024-01']
    assert main(words) == 2
    said = capsys.readouterr().err
    assert 'left out, public since 2024-01-01 and not after 2024-01: ' in said
    assert all(task_id in said for task_id in task_ids)
    assert main([*words[:-2], '--only-family', 'implement']) == 2
    assert 'left out, not of the family implement: ' in capsys.readouterr().err


# -- bad endpoints, bad places ---------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(('127.0.0.1', 0)) as server:
        return int(server.getsockname()[1])


def test_an_endpoint_where_nothing_listens_is_refused_before_anything_is_written(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f'http://127.0.0.1:{free_port()}'
    assert main(world.command(world.release, url, tmp_path / 'out')) == 2
    said = capsys.readouterr().err
    assert f'nothing answers at {url}' in said
    assert said.count('\n') == 1
    assert not list(tmp_path.rglob('*.json'))


HTML = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<p>welcome!</p>'
ENDLESS = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"id": "'
NOT_FOUND = b'HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nno model!'


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('answer', 'status', 'sentence'),
    [
        (Said(first=HTML), 2, "the endpoint's answer cannot be read"),
        (Said(first=NOT_FOUND), 2, 'HTTP 404: no model!'),
        (Said(first=b'what?\r\n\r\n'), 3, '1 of 1 task could not be attempted'),
        pytest.param(
            Said(first=ENDLESS, forever=b'x' * 60_000),
            3,
            'the endpoint ended the attempt (the answer did not end in time or size)',
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_model_that_answers_nonsense_ends_the_run_in_one_sentence(
    world: World,
    model: ModelServer,
    tmp_path: Path,
    answer: Said,
    status: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with saying(answer) as url:
        base = url.removesuffix('/file')
        command = world.command(world.release, base, tmp_path / 'out', '--limit', '1')
        assert main(command) == status
    said = capsys.readouterr()
    assert sentence in said.err.splitlines()[-1]
    assert not said.out
    assert not list((tmp_path / 'out/attempts').iterdir())
    assert (tmp_path / 'out/predictions.jsonl').read_text() == '' if status == 3 else True


@pytest.mark.slow
def test_an_answer_that_drips_for_ever_is_no_answer(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = settings(tmp_path, max_seconds=2.0)
    with saying(Said(first=ENDLESS, drip=b' ')) as url:
        base = url.removesuffix('/file')
        command = world.command(world.release, base, tmp_path / 'out', '--limit', '1', *quick)
        assert main(command) == 3
    said = capsys.readouterr()
    assert 'the endpoint ended the attempt (no answer within 2 s)' in said.err
    assert not list((tmp_path / 'out' / 'attempts').iterdir())


@pytest.mark.parametrize('place', ['nowhere', '2031-12', 'https://127.0.0.1:1/2031-12'])
def test_a_month_that_is_not_there_is_named_in_one_sentence(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(['run', place, '--model', MODEL, '--any-date']) in (2, 3)
    said = capsys.readouterr().err
    assert place.rpartition('/')[2] in said or '127.0.0.1' in said
    assert said.count('\n') == 1
    assert not list(tmp_path.iterdir())


def test_a_snapshot_of_a_later_schema_is_refused_in_one_sentence(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = shutil.copytree(world.release, tmp_path / 'later')
    manifest = json.loads((place / 'manifest.json').read_text())
    (place / 'manifest.json').write_text(json.dumps({**manifest, 'schema_version': 99}))
    assert main(world.command(place, 'http://127.0.0.1:1', tmp_path / 'out')) == 2
    said = capsys.readouterr().err
    assert 'is of a newer schema (99): update coevo' in said
    assert said.count('\n') == 1


# -- interruptions ---------------------------------------------------------------------------------

PROGRAM = 'import sys; from tests.languages.table import known_toy; from coevo.command.main import main\nwith known_toy(): sys.exit(main(sys.argv[1:]))'


@pytest.mark.slow
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL], ids=['INT', 'KILL'])
@pytest.mark.parametrize(
    'moment', ['fetching', 'estimate: ', '1 of 2: ', 'grading ', 'tasks: 1 of 2']
)
def test_an_interrupted_run_goes_on_when_called_again(
    world: World,
    model: ModelServer,
    tmp_path: Path,
    moment: str,
    number: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    subprocess.run(['cp', '-r', str(world.edition), str(tmp_path / 'code-free')], check=True)
    command = world.command(tmp_path / 'code-free', model.url, tmp_path / 'out')
    words = ['env', '--default-signal=INT', sys.executable, '-c', PROGRAM, *command]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(moment):
                process.send_signal(number)
                break
        threading.Thread(target=process.stderr.read, daemon=True).start()
        assert process.wait(600) == (130 if number == signal.SIGINT else -number)
    before = {file.name for file in (tmp_path / 'out/attempts').glob('*.json')}
    assert main(command) == 0
    assert capsys.readouterr().out.startswith('success 2 of 2, strict unknown, ')
    assert model.rounds() <= 2 + (2 - len(before))
    assert len(list((tmp_path / 'out/attempts').glob('*.json'))) == 2


@pytest.mark.slow
def test_a_full_disk_is_named_and_a_run_goes_on_once_there_is_room(
    world: World, model: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = tmp_path / 'tiny'
    tiny.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', str(tiny)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('file systems are mounted by root alone')
    try:
        (tiny / 'others').write_bytes(bytes(56 << 10))
        command = world.command(world.release, model.url, tiny / 'out')
        assert main(command) in (2, 3)
        assert 'No space left on device' in capsys.readouterr().err
        (tiny / 'others').unlink()
        subprocess.run(['mount', '-o', 'remount,size=8m', str(tiny)], check=True)
        assert main(command) == 0
        assert capsys.readouterr().out.startswith('success 2 of 2, ')
    finally:
        subprocess.run(['umount', str(tiny)], check=True)
