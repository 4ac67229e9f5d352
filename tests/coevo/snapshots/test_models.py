from __future__ import annotations

from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import Cutoff, find_cutoff, find_model, load_published_models
from tests import snapshots
from tests.settings_files import settings

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


def test_a_model_states_the_source_of_its_cutoff(ours: Path) -> None:
    cutoff, source = find_cutoff('GPT-4o')
    assert cutoff == '2023-10-01'
    assert source.startswith('https://')
    assert find_cutoff('gpt-4o', ours) == ('2024-01-03', 'our notes')
    assert find_cutoff('gpt-4.1', ours)[0] == '2024-06-01'
    assert find_model('Claude Opus 4.7') == find_model('claude-opus-4-7')


def test_an_unknown_model_is_refused(ours: Path) -> None:
    with pytest.raises(Fatal, match=r'no training cutoff of .gpt-99. is known.*our-model'):
        find_cutoff('gpt-99', ours)
    assert find_model('gpt-99') is None
    assert find_model('my gpt-4o') is None


# As tables of the papers of docs/about.md write them.
OF_THE_PAPERS = [
    *('GPT-5', 'Gemini 2.5 Flash', 'GPT-OSS-120B', 'Devstral-Small', 'DeepSeek V3.1 671B'),
    *('Qwen3 Coder 480B A35B', 'Claude Opus 4.7', 'Gemini 3.1 Pro', 'GPT-5-Codex', 'Phi-4'),
    *('CodeLlama-7b-Instruct-hf', 'gemma-3-27b-it', 'deepseek-coder-6.7b-instruct'),
    *('Qwen2.5-Coder-32B-Instruct', 'gpt-4o-mini', 'gemini-1.5-pro', 'llama3.1:70b'),
    *('GPT-4-Turbo', 'GPT-3.5-Turbo', 'GPT-o1', 'GPT-5-mini', 'Gemini-2.0-Flash'),
    *('Gemini-3.0-Pro', 'Claude-3.5-Sonnet', 'CodeQwen1.5', 'DeepSeek-Coder', 'CodeGemma'),
]


@pytest.mark.parametrize('name', OF_THE_PAPERS)
def test_each_model_of_the_papers_has_a_sourced_cutoff_or_none(name: str) -> None:
    model = find_model(name)
    assert model is not None
    assert model.source.startswith('https://')
    if model.cutoff is None:
        with pytest.raises(Fatal, match='no source states a training cutoff'):
            find_cutoff(name)


def test_no_name_belongs_to_two_models() -> None:
    names = [name.lower() for model in load_published_models() for name in model.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    'text',
    [
        'models = 1',
        'version = 2',
        '[[models]]\nnames = ["a"]\ncutoff = "2024"\nsource = "b"',
        '[[models]]\nnames = ["a"]\ncutoff = "2024-01"',
        '[[models]]\nnames = ["a"]\ncutoff = 2024-01-02\nsource = "b"',
        '[[models]]\nnames = "a"\ncutoff = "2024-01"\nsource = "b"',
        '[[models',
    ],
)
def test_a_malformed_file_of_models_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / 'm.toml').write_text(text)
    with pytest.raises(Fatal):
        find_cutoff('a', tmp_path / 'm.toml')


def test_a_cutoff_margin_is_added_in_days() -> None:
    assert f'{Cutoff(date="2024-06", margin_days=30).first_clean:%F %T}' == '2024-07-31 00:00:00'


def test_a_query_by_model_uses_the_cutoff_of_the_model(
    snapshot: Path, ours: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = 'SELECT count(*) AS n FROM tasks'
    asked = ['query', str(snapshot), sql, '--format', 'csv', '--only-unseen-by', 'our-model']
    assert main([*asked, *settings(tmp_path, models=ours)]) == 0
    told = capsys.readouterr()
    assert told.out == 'n\n2\n'
    assert 'after 2024-01-03 (our-model, says our notes): 2 of 6 tasks' in told.err
    assert main([*asked, *settings(tmp_path, models=ours, margin_days=1)]) == 0
    assert capsys.readouterr().out == 'n\n0\n'


@pytest.mark.parametrize(
    'words',
    [
        ['--only-unseen-by', 'nobody-knows'],
        [{'margin_days': 3}],
        ['--only-after', '2024-01', {'margin_days': -3}],
        ['--only-after', '2024-01', {'margin_days': 99999999}],
        ['--only-after', '2024-01', '--only-unseen-by', 'gpt-4o'],
        ['--only-after', ''],
    ],
)
def test_a_query_with_an_unusable_cutoff_prints_no_rows(
    snapshot: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str | dict[str, object]],
) -> None:
    given = [
        word
        for each in words
        for word in ([each] if isinstance(each, str) else settings(tmp_path, **each))
    ]
    assert main(['query', str(snapshot), *given]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert told.err.count('\n') == 1
