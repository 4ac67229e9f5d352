"""An edition without the developers' answers: read, prompted and attempted; graded at the whole."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import coevo
from coevo.agents.templates import compose_task_question
from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.judging.start_states import (
    decode_files_from_json,
    encode_files_as_json,
    list_code_files_changed_by_gold,
    restore_start_file,
)
from coevo.git.repository import Repository
from coevo.model.families import Family
from coevo.model.profiles import load_profile
from coevo.model.schema import TABLES
from coevo.snapshots.snapshot import open_snapshots
from flows.options import ReleaseOptions
from flows.publication import publish_release, write_withheld_edition
from tests.languages import toys
from tests.packagers.test_code_free import NEW, OLD
from tests.projects import write
from tests.repos import git

# What only the new test says: the value that it expects.
ANSWER = 'is Till.price 2'


def release(folder: Path, *families: Family) -> ReleaseOptions:
    repository = write(folder / 'repository', [OLD, NEW])
    found = toys.mined(repository, folder / 'store', profile=load_profile('whole'))
    options = ReleaseOptions(
        store=found.store,
        snapshot=folder / 'whole',
        withhold_gold=folder / 'withheld',
        families=families,
    )
    publish_release(options)
    write_withheld_edition(options)
    return options


@pytest.fixture(scope='module')
def options(toy: None, tmp_path_factory: pytest.TempPathFactory) -> ReleaseOptions:
    return release(tmp_path_factory.mktemp('withheld'))


@pytest.fixture(scope='module')
def whole(options: ReleaseOptions) -> Path:
    return Path(str(options.snapshot))


@pytest.fixture(scope='module')
def withheld(options: ReleaseOptions) -> Path:
    return Path(str(options.withhold_gold))


def tell_all(place: Path) -> str:
    connection = open_snapshots(place)
    return json.dumps([connection.sql(f'FROM {table}').fetchall() for table in TABLES], default=str)


def test_no_table_shows_an_answer(whole: Path, withheld: Path) -> None:
    assert ANSWER in tell_all(whole)
    assert ANSWER not in tell_all(withheld)
    # A new test that stays out of the start file, and its helper.
    assert 'use _five' in tell_all(whole)
    assert 'use _five' not in tell_all(withheld)


def test_edition_is_good_and_says_what_it_is(
    withheld: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['verify', str(withheld)]) == 0
    assert 'the answers of the developers are withheld here' in capsys.readouterr().out
    edition = json.loads((withheld / 'manifest.json').read_text())['edition']
    digest = hashlib.sha256((whole / 'manifest.json').read_bytes()).hexdigest()
    assert (edition['kind'], edition['manifest_sha256']) == ('gold-withheld', digest)
    assert 'are withheld here' in (withheld / 'README.md').read_text()


def test_same_release_gives_the_same_edition(options: ReleaseOptions) -> None:
    assert not write_withheld_edition(options).written


def test_prompts_and_start_states_are_those_of_the_snapshot(
    whole: Path, withheld: Path, options: ReleaseOptions, tmp_path: Path
) -> None:
    assignments = load_assignments(whole)
    assert assignments
    for number, assignment in enumerate(assignments):
        (same,) = load_assignments(withheld, {assignment.task_id})
        assert same.task.prompt == assignment.task.prompt
        heads = []
        for place in (whole, withheld):
            folder = tmp_path / f'{place.name}{number}'
            words = ['checkout', str(place), assignment.task_id, str(folder)]
            assert main([*words, '--clones', str(options.store)]) == 0
            heads.append(git(folder, 'rev-parse', 'HEAD'))
        assert heads[0] == heads[1]


def test_answer_made_from_the_edition_is_graded_at_the_snapshot(
    whole: Path, withheld: Path, options: ReleaseOptions, tmp_path: Path
) -> None:
    task = next(each.task for each in load_assignments(whole) if str(each.task.track) == 'update')
    clones = ['--clones', str(options.store)]
    words = ['checkout', str(withheld), task.task_id, str(tmp_path / 'start')]
    assert main([*words, *clones]) == 0
    file = tmp_path / 'start' / task.test_file
    file.write_text(file.read_text().replace('is Till.price 1', ANSWER))
    answers = tmp_path / 'answers.jsonl'
    patch = git(tmp_path / 'start', 'diff') + '\n'
    answers.write_text(json.dumps({'task_id': task.task_id, 'patch': patch}) + '\n')
    grade = ['--only-tasks', task.task_id, *clones, '--out', str(tmp_path / 'results')]
    assert main(['evaluate', str(whole), str(answers), *grade]) == 0
    results = duckdb.read_parquet(str(tmp_path / 'results' / 'results.parquet'))
    assert {outcome for (outcome,) in results.select('outcome').fetchall()} == {'success'}


@pytest.mark.parametrize(
    'words',
    [
        ['evaluate', '{}', 'gold', '--out', 'results'],
        ['export', '{}', '--format', 'jsonl', '--out', 'exported'],
        ['get', '{}', '--out', 'filled'],
    ],
)
def test_what_needs_answers_is_refused_in_one_sentence(
    withheld: Path,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([word.format(withheld) for word in words]) == 2
    said = capsys.readouterr().err
    assert 'withholds the answers of the developers' in said
    assert 'coevo evaluate WHOLE ANSWERS' in said
    assert len(said.strip().split('\n')) == 1


def test_feedback_is_refused_where_answers_are_withheld(
    withheld: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    endpoint = ['--model', 'm', '--endpoint', 'http://127.0.0.1:9']
    words = [
        'run',
        str(withheld),
        '--protocol',
        'tam-eval',
        *endpoint,
        '--out',
        str(tmp_path / 'o'),
    ]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert 'by which a grid and attempts with feedback are graded' in said
    assert 'run them on the whole snapshot' in said
    assert len(said.strip().split('\n')) == 1


def test_code_that_a_task_asks_for_is_withheld(toy: None, tmp_path: Path) -> None:
    options = release(tmp_path, Family.IMPLEMENT)
    sql = "SELECT source_patch, focal_source, prompt FROM tasks WHERE family = 'implement'"
    asked = coevo.open(Path(str(options.withhold_gold))).sql(sql).fetchall()
    assert asked
    assert {(patch, focal) for patch, focal, _ in asked} == {(None, None)}
    assert all(prompt for _, _, prompt in asked)

    # A baseline is shown the same code from either.
    questions: dict[str, set[tuple[tuple[str, ...], str]]] = {}
    with closing(Repository(tmp_path / 'repository' / '.git')) as repository:
        for place in (options.snapshot, options.withhold_gold):
            for assignment in load_assignments(str(place)):
                task = assignment.task
                if task.asks_for_code:
                    start = restore_start_file(repository, task)
                    question = compose_task_question(repository, task, start)
                    told = questions.setdefault(task.task_id, set())
                    told.add((list_code_files_changed_by_gold(task), question))
    assert questions
    assert all(len(told) == 1 for told in questions.values())
    assert all(gold for told in questions.values() for gold, _ in told)


FILES = (('a', None), ('b', b'text\n'), ('c', b'\xff\x00'))


def test_files_of_a_start_state_survive_json() -> None:
    assert decode_files_from_json(encode_files_as_json(FILES)) == FILES


@pytest.mark.parametrize('text', ['', '[]', '{"a": 1}', '{"a": {"base64": "?"}}', '{"a": {}}'])
def test_other_json_is_no_start_state(text: str) -> None:
    with pytest.raises(ValueError, match=r'JSON|base64'):
        decode_files_from_json(text)
