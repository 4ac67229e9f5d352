from __future__ import annotations

import pytest

from coevo.display.terminal import redact, strip_secrets_except_aws

TOKEN = 'ghp_neverKeepThisOne0123456789'


@pytest.mark.parametrize(
    ('text', 'kept'),
    [
        (f'bad credentials: {TOKEN}!', 'bad credentials: ***!'),
        ('github_pat_11ABCDEFG0abcdefghijkl', '***'),
        ('https://ada:secret@example.org/x.git failed', 'https://***@example.org/x.git failed'),
        ("{'Authorization': 'Bearer abc.def'}", "{'Authorization': 'Bearer ***'}"),
        ('a file of 40 characters', 'a file of 40 characters'),
    ],
)
def test_text_that_looks_like_a_secret_is_hidden(text: str, kept: str) -> None:
    assert redact(text) == kept


def test_secrets_from_environment_variables_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of several in one variable; what is too short to be one is left."""
    monkeypatch.setenv('GITHUB_TOKENS', 'firstPlainWord, secondPlainWord')
    monkeypatch.setenv('PREFECT_API_KEY', 'yes')
    assert redact('secondPlainWord and firstPlainWord: yes') == '*** and ***: yes'


def test_foreign_code_gets_the_store_credentials_but_no_other_secrets() -> None:
    known = {'PATH': '/bin', 'GITHUB_TOKEN': 'a', 'AWS_SECRET_ACCESS_KEY': 'b', 'MY_PASSWORD': 'c'}
    assert set(strip_secrets_except_aws(known)) == {'PATH', 'AWS_SECRET_ACCESS_KEY'}
