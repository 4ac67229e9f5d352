"""Where tokens come from, and that they are not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from miners.discovery.budgets import parse_tokens


@pytest.mark.parametrize(
    ('environment', 'secrets'),
    [
        ({'GITHUB_TOKEN': 'a1'}, ['a1']),
        ({'GITHUB_TOKENS': 'a1, b2\nc3,a1', 'GITHUB_TOKEN': 'd4'}, ['a1', 'b2', 'c3']),
    ],
)
def test_tokens_come_from_the_environment(environment: dict[str, str], secrets: list[str]) -> None:
    found = parse_tokens(environment)
    assert [one.secret for one in found] == secrets
    assert [str(one) for one in found] == [f'token {n}' for n in range(1, len(secrets) + 1)]


def test_token_file_takes_precedence_over_the_environment(tmp_path: Path) -> None:
    file = tmp_path / 'tokens'
    file.write_text('# of the bot\na1\n\nb2\n')
    found = parse_tokens({'GITHUB_TOKEN': 'd4'}, file)
    assert [one.secret for one in found] == ['a1', 'b2']


def test_printed_token_does_not_show_its_secret() -> None:
    (token,) = parse_tokens({'GITHUB_TOKEN': 'ghp_secret'})
    assert 'secret' not in f'{token} {token!r} {[token]}'.replace('secret=', '')


@pytest.mark.parametrize('text', ['', '  ,', 'ghp_sec\x07ret'])
def test_invalid_token_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(Fatal) as refused:
        parse_tokens({'GITHUB_TOKENS': text})
    assert 'ghp' not in str(refused.value)


def test_unreadable_token_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='one token a line'):
        parse_tokens({}, tmp_path / 'nowhere')
