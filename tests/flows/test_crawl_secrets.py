"""No token is printed or stored, whatever goes wrong; and the command says what it did."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal, Transient
from miners.discovery.github_requests import RetryLimits
from tests.flows.crawling import QUICK, SECRET, crawled, github, many, options, tokens
from tests.github_server import Budgets, Fault, Server

ROOT = Path(__file__).parents[2]

IMPATIENT = RetryLimits(attempts=2, pause=0.01, secondary=0.01, timeout=1, refusals=2)

FAULTS = {
    'calm': Fault(kind='status', times=0),
    'primary': Fault(kind='primary', seconds=9999, times=-1),
    'secondary': Fault(kind='secondary', seconds=1, times=-1),
    '429': Fault(kind='secondary_silent', status=429, times=-1),
    '502': Fault(kind='status', status=502, times=-1),
    'hang': Fault(kind='hang', seconds=1.2, times=-1),
    'reset': Fault(kind='reset', times=-1),
    'half': Fault(kind='half', times=-1),
    'garbage': Fault(kind='garbage', times=-1),
    'incomplete': Fault(kind='incomplete', path='search', times=-1),
    'portal': Fault(kind='elsewhere', times=-1),
    'graphql': Fault(kind='half', path='/graphql', times=-1),
}


def stored(folder: Path) -> bytes:
    files = [path for path in folder.rglob('*') if path.is_file()]
    return b'\n'.join(path.read_bytes() + str(path).encode() for path in files)


def attempt(server: Server, store: Path) -> str:
    """All that an error would tell: its causes, its contexts, and values of our own frames."""
    try:
        return repr(crawled(server, store, tokens=tokens(2), patience=IMPATIENT))
    except (Fatal, Transient) as error:
        return ''.join(
            said(traceback.TracebackException.from_exception(error, capture_locals=True))
        )


def said(error: traceback.TracebackException | None) -> Iterator[str]:
    """The lines of an error, its cause and its context, without the values of the tests."""
    if error is not None:
        error.stack[:] = [one for one in error.stack if '/tests/' not in one.filename]
        yield from said(error.__cause__)
        yield from said(error.__context__)
        yield from error.format(chain=False)


@pytest.mark.parametrize('name', FAULTS)
def test_no_failure_shows_a_token(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    name: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    fault = FAULTS[name]
    with github(*many(3)) as server:
        server.faults.append(
            Fault(
                kind=fault.kind,
                path=fault.path,
                times=fault.times,
                status=fault.status,
                seconds=fault.seconds,
            )
        )
        told = attempt(server, tmp_path)
    assert any(token.startswith(SECRET) for token, _, _ in server.asked)
    out, err = capfd.readouterr()
    for text in (told, caplog.text, out, err, stored(tmp_path).decode(errors='replace')):
        assert SECRET not in text
    assert caplog.text
    assert (tmp_path / 'crawls').is_dir()


def test_rejected_tokens_are_not_shown(tmp_path: Path) -> None:
    with github(budgets=Budgets(tokens=frozenset())) as server:
        told = attempt(server, tmp_path)
    assert 'none of the tokens' in told
    assert SECRET not in told


def test_the_repr_of_crawl_options_shows_no_token(tmp_path: Path) -> None:
    with github() as server:
        assert SECRET not in f'{options(server, tmp_path, patience=QUICK)!r}'


def test_the_crawl_command_shows_and_stores_no_token(tmp_path: Path) -> None:
    store = tmp_path / 'store'
    command = [Path(sys.executable).parent / 'coevo', 'pipeline', 'crawl', '--store', str(store)]
    with github(*many(1)) as server:
        environment = {
            **os.environ,
            'PYTHONPATH': str(ROOT),
            'GITHUB_TOKENS': f'{SECRET}1,{SECRET}2',
            'COEVO_GITHUB_API': server.api,
        }
        server.faults.append(Fault(kind='secondary', seconds=1))
        first, second = (
            subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            for _ in range(2)
        )
    assert (first.returncode, first.stderr) == (0, '')
    assert '1 repositories found' in first.stdout
    assert '1 searches, 0 of GraphQL and 0 others counted, 0 unchanged' in second.stdout
    for text in (first.stdout, second.stdout, second.stderr, stored(store).decode(errors='ignore')):
        assert SECRET not in text


@pytest.mark.parametrize(
    ('arguments', 'sentence'),
    [
        (['--api', 'ftp://example.org'], 'is no address of an API'),
        (['--api', f'http://u:{SECRET}@127.0.0.1:1'], 'is no address of an API'),
        (['--profile', 'nope'], "there is no profile 'nope'"),
        (['--tokens', '/nonexistent'], 'one token a line'),
    ],
)
def test_invalid_crawl_arguments_are_reported_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.setenv('GITHUB_TOKEN', SECRET)
    assert main(['pipeline', 'crawl', '--store', str(tmp_path / 'store'), *arguments]) == 2
    told = capfd.readouterr().err
    assert sentence in told
    assert SECRET not in told
    assert told.count('\n') == 1
