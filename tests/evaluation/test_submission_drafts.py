"""`submission.json` as `coevo submit --new` makes it, of results that are there."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.results import write_results
from coevo.evaluation.submission.drafting import write_submission_metadata
from coevo.evaluation.submission.folder import load_metadata
from coevo.model.errors import Fatal
from tests.evaluation.rows import row

SAID = {'contact': 'me@example.org', 'url': 'https://example.org/agent'}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / 'mine/results').mkdir(parents=True)
    rows = [row('a', harness='agent', model='m'), row('b')]  # nobody answered b
    write_results(tmp_path / 'mine/results', rows)
    return tmp_path / 'mine'


def test_results_and_a_person_say_all_fields(folder: Path) -> None:
    answers: Mapping[str, str] = {**SAID, 'network': 'no\n'}
    made = write_submission_metadata(folder, {'cutoff': None}, answers.get)
    assert load_metadata(folder) == made
    assert (made.harness, made.model, made.snapshot_sha256) == ('agent', 'm', '0' * 64)
    assert (made.contact, made.url) == ('me@example.org', 'https://example.org/agent')
    assert (made.attempts, made.network, made.cutoff) == (1, False, None)


def test_a_folder_of_a_run_had_no_network_and_a_second_call_keeps_what_was_said(
    folder: Path,
) -> None:
    (folder / 'run.json').write_text('{}')
    write_submission_metadata(folder, SAID)
    again = write_submission_metadata(
        folder, {'cutoff': '2024-06', 'cutoff_source': 'https://e.org/c'}
    )
    assert (again.contact, again.network, again.cutoff) == ('me@example.org', False, '2024-06')


@pytest.mark.parametrize(
    ('given', 'sentence'),
    [
        (
            {},
            r'it still needs an address for reviewers and a page .* \(--contact, --url, --network\)',
        ),
        ({**SAID}, r'\(--network\)'),
        ({**SAID, 'url': 'example.org', 'network': False}, 'which is not an https:// address'),
        (
            {**SAID, 'network': False, 'cutoff': '2024-06'},
            'cutoff and cutoff_source belong together',
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named_and_nothing_is_written(
    folder: Path, given: dict[str, object], sentence: str
) -> None:
    with pytest.raises(Fatal, match=sentence):
        write_submission_metadata(folder, given)
    assert not (folder / 'submission.json').exists()


def test_results_of_two_agents_or_none_are_refused(folder: Path, tmp_path: Path) -> None:
    rows = [row('a', harness='agent', model='m'), row('b', harness='agent', model='n')]
    write_results(folder / 'results', rows)
    with pytest.raises(Fatal, match='of 2 agents or models'):
        write_submission_metadata(folder, SAID)
    with pytest.raises(Fatal, match='has no results; grade its answers first'):
        write_submission_metadata(tmp_path, SAID)


def test_a_person_on_a_terminal_is_asked_for_what_is_missing(folder: Path) -> None:
    code = 'import sys; from coevo.command.main import main; sys.exit(main(sys.argv[1:]))'
    words = ['submit', '--new', str(folder), '--contact', 'me@example.org']
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, '-c', code, *words], stdin=theirs, stderr=theirs) as run:
        os.close(theirs)
        os.write(ours, b'\nhttps://example.org/agent\nyes\n')
        assert run.wait(120) == 0
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert 'that describes the agent' in shown
    assert 'yes or no' in shown
    made = load_metadata(folder)
    assert (made.url, made.network) == ('https://example.org/agent', True)


def test_the_cutoff_of_a_run_is_taken_over_once_a_page_states_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / 'run.json').write_text('{}')
    (folder / 'report.json').write_text('{"only_after": "2025-06"}')
    assert main(['submit', '--new', str(folder), *given(SAID)]) == 0
    told = capsys.readouterr().out
    assert f'`coevo submit --new {folder} --cutoff 2025-06 --cutoff-source URL` adds one' in told
    assert load_metadata(folder).cutoff is None
    assert main(['submit', '--new', str(folder), '--cutoff-source', 'https://example.org/c']) == 0
    assert 'adds one' not in capsys.readouterr().out
    made = load_metadata(folder)
    assert (made.cutoff, made.cutoff_source) == ('2025-06', 'https://example.org/c')


def test_a_person_is_asked_for_the_source_of_a_cutoff_only_if_there_is_one(folder: Path) -> None:
    answers = {**SAID, 'network': 'no', 'cutoff': '2025-06', 'cutoff_source': 'https://e.org/c'}
    without = write_submission_metadata(folder, {}, {**answers, 'cutoff': ' '}.get)
    assert (without.cutoff, without.cutoff_source) == (None, None)
    made = write_submission_metadata(folder, {}, answers.get)
    assert (made.cutoff, made.cutoff_source) == ('2025-06', 'https://e.org/c')


def test_the_cutoff_by_which_a_run_graded_is_that_of_the_submission(folder: Path) -> None:
    stated = {'model_cutoff': '2025-05', 'model_cutoff_source': 'https://example.org/m'}
    write_results(folder / 'results', [row('a', harness='agent', model='m', **stated)])
    made = write_submission_metadata(folder, {**SAID, 'network': False})
    assert (made.cutoff, made.cutoff_source) == ('2025-05', 'https://example.org/m')


@pytest.mark.parametrize('contact', ['me', 'me@', 'write to me@example.org'])
def test_contact_that_is_no_address_is_refused(
    folder: Path, contact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['submit', '--new', str(folder), *given({**SAID, 'contact': contact})]
    assert main([*words, '--network', 'no']) == 2
    assert 'which is no address; give one such as me@example.org' in capsys.readouterr().err


def test_run_without_an_answer_is_to_be_made_again(folder: Path, tmp_path: Path) -> None:
    (tmp_path / 'predictions.jsonl').write_text('')
    with pytest.raises(Fatal, match='has no answers yet: run its `coevo run` again'):
        write_submission_metadata(tmp_path, SAID)


def test_without_a_terminal_the_command_names_the_options(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['submit', '--new', str(folder), '--network', 'yes']) == 2
    said = capsys.readouterr().err
    assert '(--contact, --url)' in said
    assert said.count('\n') == 1
    assert main(['submit', '--new', str(folder), '--network', 'yes', *given(SAID)]) == 0
    assert json.loads((folder / 'submission.json').read_text())['network'] is True


def given(said: Mapping[str, str]) -> list[str]:
    return [word for name, value in said.items() for word in (f'--{name}', value)]
