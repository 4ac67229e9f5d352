from __future__ import annotations

from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.models import find_model
from tests import snapshots

OURS = """
[[models]]
names = ["our-model", "gpt-4o"]
cutoff = "2024-01-03"
source = "our notes"
"""


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2, 3)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / 'models.toml'
    path.write_text(OURS)
    return path


def test_a_model_says_where_its_cutoff_is_from(ours: Path) -> None:
    assert find_model('GPT-4o').cutoff == '2023-10-01'
    assert find_model('GPT-4o').source.startswith('https://')
    assert find_model('gpt-4o', ours).source == 'our notes'
    assert find_model('gpt-4.1', ours).cutoff == '2024-06-01'


def test_a_model_that_nobody_knows_lets_nothing_through(ours: Path) -> None:
    with pytest.raises(Fatal, match=r'no training cutoff of .gpt-99. is known.*our-model'):
        find_model('gpt-99', ours)


@pytest.mark.parametrize(
    'text',
    [
        'models = 1',
        'version = 2',
        '[[models]]\nnames = ["a"]\ncutoff = "2024"\nsource = "b"',
        '[[models]]\nnames = ["a"]\ncutoff = "2024-01"',
        '[[models]]\nnames = "a"\ncutoff = "2024-01"\nsource = "b"',
        '[[models',
    ],
)
def test_a_file_that_tells_no_cutoffs_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / 'm.toml').write_text(text)
    with pytest.raises(Fatal):
        find_model('a', tmp_path / 'm.toml')


def test_a_margin_is_added_in_days() -> None:
    assert f'{Cutoff(date="2024-06", margin_days=30).first_clean:%F %T}' == '2024-07-31 00:00:00'


def test_asking_by_model(snapshot: Path, ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = 'SELECT count(*) AS n FROM tasks'
    asked = ['query', str(snapshot), sql, '--format', 'csv', '--models', str(ours)]
    assert main([*asked, '--model', 'our-model']) == 0
    told = capsys.readouterr()
    assert told.out == 'n\n2\n'
    assert 'after 2024-01-03 (our-model, says our notes): 2 of 6 tasks' in told.err
    assert main([*asked, '--model', 'our-model', '--margin', '1']) == 0
    assert capsys.readouterr().out == 'n\n0\n'


@pytest.mark.parametrize(
    'words',
    [
        ['--model', 'nobody-knows'],
        ['--margin', '3'],
        ['--after', '2024-01', '--margin', '-3'],
        ['--after', '2024-01', '--margin', '99999999'],
        ['--after', '2024-01', '--model', 'gpt-4o'],
        ['--after', ''],
    ],
)
def test_it_fails_closed(
    snapshot: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(['query', str(snapshot), *words]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert told.err.count('\n') == 1
