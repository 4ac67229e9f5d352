"""`coevo export --format jsonl`, read as those who train read it, and what every format refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from coevo.agents.one_shot import extract_longest_code_block
from coevo.command.main import main
from coevo.model.words import Track
from tests.exports.conftest import FAILING, Toys

GOLD = '[shop.TillTest]\nsells: is Till.price 2\nsells_again: is Till.price 2\n'


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text('ascii').splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob('*') if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def text(messages: list[dict[str, str]]) -> str:
    (message,) = messages
    return message['content']


@pytest.fixture(scope='module')
def exported(toy_tasks: Toys, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp('exported') / 'training'
    words = ('--format', 'jsonl', '--attempts', str(toy_tasks.run))
    assert toy_tasks.export(out, *words) == 0
    return out


def test_datasets_reads_a_line_for_each_task(exported: Path, tmp_path: Path) -> None:
    import datasets

    read = datasets.load_dataset(
        'json', data_files=str(exported / 'tasks.jsonl'), split='train', cache_dir=str(tmp_path)
    )
    assert sorted(row['metadata']['track'] for row in read) == ['generation', 'update']
    for row in read:
        assert [message['role'] for message in row['prompt']] == ['user']
        assert 'test_till.toy:\n```\n[shop.TillTest]' in text(row['prompt'])
        assert text(row['prompt']).endswith('in one fenced code block.\n')
        assert row['metadata']['license'] == 'Apache-2.0'
        assert f'{row["metadata"]["contamination_date"]:%F}' == '2024-02-01'


def test_completion_of_a_task_is_gold_as_the_answer_is_read(exported: Path) -> None:
    for row in lines(exported / 'tasks.jsonl'):
        assert extract_longest_code_block(text(row['completion'])) == GOLD
        assert row['gold_patch'].startswith('diff --git a/test_till.toy')
        assert 'sells_again: is' not in text(row['prompt'])


def test_attempts_have_rewards_and_reasons(exported: Path) -> None:
    gold, *wrong = lines(exported / 'attempts.jsonl')
    assert [row['attempt'] for row in (gold, *wrong)] == [1, 2, 3]
    assert (gold['rewards']['success'], gold['rewards']['mutants']) == (1, 1)
    for row in wrong:
        assert set(row['rewards'].values()) == {0}
        assert FAILING in text(row['completion'])
        ((reason),) = row['reasons']
        assert (reason['test_method'], reason['outcome']) == ('TillTest#sells', 'exec_fail')


def test_equal_answers_are_no_pair_and_the_better_one_is_chosen(exported: Path) -> None:
    (pair,) = lines(exported / 'preferences.jsonl')
    assert extract_longest_code_block(text(pair['chosen'])) == GOLD
    assert FAILING in text(pair['rejected'])
    assert pair['chosen_rewards']['success'] > pair['rejected_rewards']['success']


def test_results_without_answers_still_have_those_of_gold(toy_tasks: Toys, tmp_path: Path) -> None:
    results = toy_tasks.folder / 'results alone' / 'results'
    words = ('--format', 'jsonl', '--attempts', str(results))
    assert toy_tasks.export(tmp_path / 'out', *words) == 0
    gold, *wrong = lines(tmp_path / 'out/attempts.jsonl')
    assert extract_longest_code_block(text(gold['completion'])) == GOLD
    assert [row['completion'] for row in wrong] == [None, None]
    assert lines(tmp_path / 'out/preferences.jsonl') == []


def test_same_export_has_the_same_bytes(
    exported: Path, toy_tasks: Toys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('TZ', 'Asia/Tokyo')
    run = str(toy_tasks.run)
    words = ('--format', 'jsonl', '--attempts', run, run)
    assert toy_tasks.export(tmp_path / 'again', *words) == 0
    assert contents(tmp_path / 'again') == contents(exported)
    assert not any(str(toy_tasks.folder).encode() in one for one in contents(exported).values())


def test_options_choose_tasks(toy_tasks: Toys, tmp_path: Path) -> None:
    words = ('--format', 'jsonl', '--only-track', 'update', '--only-after', '2024-01')
    assert toy_tasks.export(tmp_path / 'out', *words) == 0
    (row,) = lines(tmp_path / 'out/tasks.jsonl')
    assert row['task_id'] == toy_tasks.tasks[Track.UPDATE].task_id
    assert not (tmp_path / 'out/attempts.jsonl').exists()


def test_canary_of_a_snapshot_stays_in(toy_tasks: Toys, tmp_path: Path) -> None:
    marked = tmp_path / 'marked'
    shutil.copytree(toy_tasks.snapshot, marked)
    manifest = json.loads((marked / 'manifest.json').read_text())
    (marked / 'manifest.json').write_text(json.dumps({**manifest, 'canary': 'coevo canary 1234'}))
    words = ['--format', 'jsonl', '--store', toy_tasks.store, '--out', str(tmp_path / 'out')]
    assert main(['export', str(marked), *words]) == 0
    assert {row['metadata']['canary'] for row in lines(tmp_path / 'out/tasks.jsonl')} == {
        'coevo canary 1234'
    }
    # It is another snapshot than the one of which these are results.
    words[-1] = str(tmp_path / 'other')
    assert main(['export', str(marked), *words, '--attempts', str(toy_tasks.run)]) == 2
    assert not (tmp_path / 'other').exists()


@pytest.mark.parametrize('format', ['jsonl', 'swebench', 'harbor'])
def test_existing_folder_is_refused_and_stays(
    format: str, toy_tasks: Toys, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'out').mkdir()
    (tmp_path / 'out/mine').write_text('mine')
    assert toy_tasks.export(tmp_path / 'out', '--format', format) == 2
    said = capsys.readouterr().err
    assert said == f'coevo: {tmp_path}/out already exists; name a new folder with --out\n'
    assert contents(tmp_path) == {'out/mine': b'mine'}


@pytest.mark.parametrize('format', ['jsonl', 'swebench', 'harbor'])
def test_edition_without_texts_says_how_to_fill_it(
    format: str, toy_tasks: Toys, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edition = str(toy_tasks.folder / 'code-free')
    out = ['--out', str(tmp_path / 'out'), '--store', toy_tasks.store]
    assert main(['export', edition, '--format', format, *out]) == 2
    assert f'`coevo get {edition}` fills them in' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['--format', 'harbor'], '2 tasks left out: coevo names no image for their language'),
        (['--format', 'jsonl', '--only-track', 'repair'], 'the options select no task'),
        (['--format', 'swebench', '--attempts', 'run'], '--attempts has no effect but with'),
        (['--format', 'jsonl', '--only-tasks', '../../etc/passwd'], 'has no task'),
    ],
)
def test_nothing_to_export_is_one_sentence_and_no_folder(
    words: list[str],
    reason: str,
    toy_tasks: Toys,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert toy_tasks.export(tmp_path / 'out', *words) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count('\n') == 1
    assert list(tmp_path.iterdir()) == []


def test_tasks_without_repository_are_counted(
    toy_tasks: Toys, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['export', toy_tasks.snapshot, '--format', 'jsonl', '--out', str(tmp_path / 'out')]
    assert main(words) == 2
    assert '2 tasks left out: their repository has no address' in capsys.readouterr().err
