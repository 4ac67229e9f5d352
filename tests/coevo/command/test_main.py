"""The command as it is started: what it says to bad words, and the status that it ends with."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.command import doctor_verb
from coevo.command.main import build_parser, main
from coevo.model.errors import Fatal
from tests import snapshots


@pytest.mark.parametrize(
    ('words', 'complaint'),
    [
        ('', 'VERB'),
        ('bogus', 'bogus'),
        ('query', 'name a snapshot'),
        ('query nowhere', 'no such folder'),
        ('query nowhere --only-after soon', 'soon'),
        ('query nowhere --only-track other', 'other'),
        ('verify nowhere', 'no such folder'),
        ('show nowhere 0', 'no such folder'),
        ('mine here --jobs 0', "--jobs: '0' must be a whole number of 1 or more"),
        ('mine here --jobs few', "--jobs: 'few' must be a whole number of 1 or more"),
        ('mine here --walk about', "--walk: invalid choice: 'about'"),
        ('mine here --sandbox castle', "--sandbox: invalid choice: 'castle'"),
        ('mine here --bogus', '--bogus'),
        ('release', '--snapshot'),
        ('doctor --install jdk', "not 'jdk'"),
        ('doctor --install python-1.5', "there is no Python '1.5'"),
        (
            'doctor --install jdk-9',
            'JDK 9 is not among those that can be installed: 8, 11, 17, 21, 25',
        ),
        ('doctor --install jdk-eight', 'JDK eight is not among those that can be installed'),
    ],
)
def test_bad_command_line_is_reported_in_one_sentence(
    words: str,
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert said.err.startswith('coevo: ')
    assert said.err.count('\n') == 1
    assert complaint in said.err
    assert not said.out
    assert not list(tmp_path.iterdir())


def test_python_that_cannot_be_installed_does_not_block_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = f'{sys.version_info.major}.{sys.version_info.minor}'
    monkeypatch.setenv('COEVO_PYTHONS', sys.executable)
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path))
    monkeypatch.setenv('UV_OFFLINE', '1')
    assert main(['doctor', '--install', 'python-3.6', f'python-{there}']) == 3
    said = capsys.readouterr()
    assert said.out.startswith(f'{there}.')
    assert 'Python 3.6 could not be brought: ' in said.err
    assert 'uv could not bring Python 3.6' in said.err.splitlines()[-1]


BAD_MANIFESTS = {
    'empty': '',
    'cut off': '{',
    'a list': '[]',
    'without a version': json.dumps({'files': {}}),
    'with another version': json.dumps({'schema_version': '1'}),
    'without its files': json.dumps({'schema_version': 2, 'rows': {}, 'walks': []}),
    'without a checksum': json.dumps(
        {'schema_version': 2, 'rows': {}, 'walks': [], 'files': {'README.md': {'size': 1}}}
    ),
    'without a walk': json.dumps({'schema_version': 2, 'rows': {}, 'walks': [{}], 'files': {}}),
}


@pytest.mark.parametrize('case', BAD_MANIFESTS)
def test_damaged_manifest_is_reported_by_verify_query_and_show(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To `verify` that is the answer, to the others bad input."""
    (tmp_path / 'manifest.json').write_text(BAD_MANIFESTS[case])
    for words, status in (
        (['verify', str(tmp_path)], 1),
        (['query', str(tmp_path)], 2),
        (['show', str(tmp_path), '0'], 2),
    ):
        assert main(words) == status
        said = capsys.readouterr()
        assert said.err == (
            f'coevo: {tmp_path / "manifest.json"} is damaged: get the snapshot again\n'
        )
        assert not said.out


def test_verify_fails_for_an_incomplete_snapshot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest that is gone or a folder, files that are gone, cut off, or in no manifest."""
    good = snapshots.make(tmp_path, 1)
    part = 'data/pairs/part-0.parquet'
    cases: dict[str, Callable[[Path], object]] = {
        'has no manifest.json': lambda copy: (copy / 'manifest.json').unlink(),
        'manifest.json is damaged': lambda copy: _made_a_folder(copy / 'manifest.json'),
        f'pairs: file_missing: {part}': lambda copy: (copy / part).unlink(),
        'drops: file_missing: data/drops': lambda copy: shutil.rmtree(copy / 'data'),
        f'pairs: file_changed: {part}': lambda copy: os.truncate(copy / part, 9),
        'pairs: file_missing: data/pairs\n': _without_pairs,
    }
    for number, (words, spoil) in enumerate(cases.items()):
        copy = tmp_path / str(number)
        shutil.copytree(good, copy)
        spoil(copy)
        assert main(['verify', str(copy)]) == 1
        said = capsys.readouterr()
        assert words in said.out + said.err


def _made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _without_pairs(snapshot: Path) -> None:
    """A table that is gone from the manifest, too."""
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    del manifest['files']['data/pairs/part-0.parquet']
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    (snapshot / 'data/pairs/part-0.parquet').unlink()


def test_mine_help_shows_all_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(['mine', '--help'])
    said = capsys.readouterr().out
    options = 'profile store name ref commits since until walk jobs sandbox settings'
    assert not [one for one in options.split() if f'--{one} ' not in said]


def test_doctor_fails_if_a_needed_tool_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    assert main(['doctor']) == 1
    assert 'MISSING git' in capsys.readouterr().out


def test_sigterm_interrupts_like_ctrl_c_but_with_status_143(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(arguments: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(doctor_verb, '_run_doctor', stopped)
    assert main(['doctor']) == 143
    assert (
        capsys.readouterr().err
        == 'coevo: interrupted; finished work is kept; run the same command again to continue\n'
    )
    assert signal.getsignal(signal.SIGTERM) is before
    assert sys.exc_info() == (None, None, None)


@pytest.mark.parametrize(
    'words',
    [
        ('SELECT 1', '--only-after', '2024-06', '--and', 'other'),
        ('--only-after', '2024-06', 'SELECT 1', '--and', 'other'),
        ('--only-after', '2024-06', '--and', 'other', 'SELECT 1'),
    ],
)
def test_query_accepts_its_sql_anywhere_among_the_options(words: tuple[str, ...]) -> None:
    argv = ['query', 'snapshot', *words]
    found = build_parser(argv).parse_args(argv)
    assert (found.snapshot, found.sql, found.after) == ('snapshot', 'SELECT 1', '2024-06')
    assert getattr(found, 'and') == ['other']


@pytest.mark.parametrize('words', [('SELECT 1', '--only-track', 'update', 'SELECT 2'), ('--x',)])
def test_query_refuses_a_second_sql_text_and_an_unknown_option(words: tuple[str, ...]) -> None:
    argv = ['query', 'snapshot', *words]
    with pytest.raises(Fatal, match='unrecognized'):
        build_parser(argv).parse_args(argv)


@pytest.mark.parametrize('verb', ['evaluate snapshot gold', 'run snapshot --agent true'])
def test_tasks_option_takes_several_names_and_can_be_repeated(verb: str) -> None:
    argv = [*verb.split(), '--out', 'results', '--only-tasks', 'a', 'b', '--only-tasks', 'c']
    assert build_parser(argv).parse_args(argv).tasks == ['a', 'b', 'c']
