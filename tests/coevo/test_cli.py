"""The command as it is started: what it says to bad words, and the status that it ends with."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from coevo import cli
from coevo.cli import main


@pytest.mark.parametrize(
    ('words', 'complaint'),
    [
        ('', 'VERB'),
        ('bogus', 'bogus'),
        ('query', 'snapshot'),
        ('query nowhere', 'no manifest.json'),
        ('query nowhere --after soon', 'soon'),
        ('query nowhere --track other', 'other'),
        ('verify nowhere', 'no manifest.json'),
        ('show nowhere 0', 'no manifest.json'),
        ('mine here --jobs 0', "--jobs: '0' is not a number from 1 on"),
        ('mine here --jobs few', "--jobs: 'few' is not a number from 1 on"),
        ('mine here --walk about', "--walk: invalid choice: 'about'"),
        ('mine here --sandbox castle', "--sandbox: invalid choice: 'castle'"),
        ('mine here --bogus', '--bogus'),
        ('release', '--snapshot'),
    ],
)
def test_bad_words_give_one_sentence(
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


@pytest.mark.parametrize('content', ['', '{', '[]', json.dumps({'files': 1})])
def test_a_manifest_that_cannot_be_read(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'manifest.json').write_text(content)
    for words in (
        ['verify', str(tmp_path)],
        ['query', str(tmp_path)],
        ['show', str(tmp_path), '0'],
    ):
        assert main(words) == 2
        assert capsys.readouterr().err.endswith('is damaged: get the snapshot again\n')


def test_mine_has_all_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(['mine', '--help'])
    said = capsys.readouterr().out
    options = 'profile store name ref commits since until walk jobs sandbox cache'
    assert not [one for one in options.split() if f'--{one} ' not in said]


def test_doctor_fails_if_something_needed_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    assert main(['doctor']) == 1
    assert 'MISSING git' in capsys.readouterr().out


def test_sigterm_is_like_ctrl_c_but_for_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(arguments: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(cli, '_doctor', stopped)
    assert main(['doctor']) == 143
    assert capsys.readouterr().err == 'coevo: interrupted; what was finished is kept\n'
    assert signal.getsignal(signal.SIGTERM) is before
    assert sys.exc_info() == (None, None, None)
