"""Where tokens come from, and that they are not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from miners.discovery.github_tokens import read_tokens


@pytest.mark.parametrize(
    ('environment', 'secrets'),
    [
        ({'GITHUB_TOKEN': 'a1'}, ['a1']),
        ({'GITHUB_TOKENS': 'a1, b2\nc3,a1', 'GITHUB_TOKEN': 'd4'}, ['a1', 'b2', 'c3']),
    ],
)
def test_tokens_come_from_the_environment(environment: dict[str, str], secrets: list[str]) -> None:
    found = read_tokens(environment)
    assert [one.secret for one in found] == secrets
    assert [str(one) for one in found] == [f'token {n}' for n in range(1, len(secrets) + 1)]


def test_a_file_of_tokens_comes_before_the_environment(tmp_path: Path) -> None:
    file = tmp_path / 'tokens'
    file.write_text('# of the bot\na1\n\nb2\n')
    found = read_tokens({'GITHUB_TOKEN': 'd4'}, file)
    assert [one.secret for one in found] == ['a1', 'b2']


def test_a_token_is_not_shown() -> None:
    (token,) = read_tokens({'GITHUB_TOKEN': 'ghp_secret'})
    assert 'secret' not in f'{token} {token!r} {[token]}'.replace('secret=', '')


@pytest.mark.parametrize('text', ['', '  ,', 'ghp_sec\x07ret'])
def test_what_is_no_token_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(Fatal) as refused:
        read_tokens({'GITHUB_TOKENS': text})
    assert 'ghp' not in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='one token a line'):
        read_tokens({}, tmp_path / 'nowhere')
