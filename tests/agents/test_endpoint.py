"""Where an endpoint is: the base that clients are given, with or without the version of the API."""

from __future__ import annotations

import pytest

from coevo.agents.endpoint import make_endpoint

KEY = 'A_KEY_OF_TESTS'


@pytest.mark.parametrize(
    ('api', 'url'),
    [
        ('openai', 'http://127.0.0.1:8000'),
        ('openai', 'http://127.0.0.1:8000/v1/'),
        ('anthropic', 'http://127.0.0.1:8000/v1'),
        ('gemini', 'http://127.0.0.1:8000/v1beta'),
    ],
)
def test_api_version_at_the_end_of_an_endpoint_url_is_removed(
    api: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls bring it in their path: /v1/v1/chat/completions is nowhere."""
    monkeypatch.setenv(KEY, 'sk-test')
    assert make_endpoint(api, url, KEY).url == 'http://127.0.0.1:8000'


def test_other_path_of_an_endpoint_url_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, 'sk-test')
    found = make_endpoint('openai', 'https://example.org/api/v1', KEY)
    assert found.url == 'https://example.org/api'
