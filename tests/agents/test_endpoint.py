"""Where an endpoint is: the base that clients are given, with or without the version of the API."""

from __future__ import annotations

import pytest

from coevo.agents.endpoint import Endpoint, check_reachable, make_endpoint
from coevo.model.errors import Fatal

KEY = 'A_KEY_OF_TESTS'


@pytest.mark.parametrize(
    ('api', 'url'),
    [
        ('openai', 'http://127.0.0.1:8000'),
        ('openai', 'http://127.0.0.1:8000/v1/'),
        ('anthropic', 'http://127.0.0.1:8000/v1'),
        ('gemini', 'http://127.0.0.1:8000/v1beta'),
        ('openai', 'http://127.0.0.1:8000/v1/chat/completions'),
        ('openai', 'http://127.0.0.1:8000/v1/responses/'),
        ('openai', 'http://127.0.0.1:8000/chat/completions'),
        ('openai', 'http://127.0.0.1:8000/v1/models'),
        ('anthropic', 'http://127.0.0.1:8000/v1/messages'),
        ('gemini', 'http://127.0.0.1:8000/v1beta/models/gemini-x:generateContent'),
    ],
)
def test_api_version_and_path_of_a_call_at_the_end_of_an_endpoint_url_are_removed(
    api: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls bring it in their path: /v1/v1/chat/completions is nowhere."""
    monkeypatch.setenv(KEY, 'sk-test')
    assert make_endpoint(api, url, KEY).url == 'http://127.0.0.1:8000'


@pytest.mark.parametrize(
    ('path', 'rest'),
    [
        ('/api/v1', '/api'),
        ('/my-messages', '/my-messages'),
        ('/messages', '/messages'),
        ('/models/llama', '/models/llama'),
        ('/v1/models/llama', '/v1/models/llama'),
        ('/models/llama/v1/chat/completions', '/models/llama'),
    ],
)
def test_other_path_of_an_endpoint_url_is_kept(
    path: str, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, 'sk-test')
    endpoint = make_endpoint('openai', f'https://example.org{path}', KEY)
    assert endpoint.url == f'https://example.org{rest}'


@pytest.mark.parametrize(
    'url',
    [
        'http://[::1/v1',
        'http://:sk-secret@127.0.0.1/v1',
        'http://127.0.0.1/v1#sk-secret',
        'http://127.0.0.1/v1?key=sk-secret',
        'http://127.0.0.1:port/v1',
        'file:///etc/passwd',
    ],
)
def test_endpoint_url_that_is_broken_or_holds_a_secret_is_refused_without_repeating_it(
    url: str,
) -> None:
    with pytest.raises(Fatal, match='--endpoint must be a URL such as') as caught:
        make_endpoint('openai', url)
    assert 'secret' not in str(caught.value)


def test_host_name_that_cannot_be_one_is_refused_in_one_sentence() -> None:
    endpoint = Endpoint(url=f'http://{"a" * 64}.example', api='openai', key='')
    with pytest.raises(Fatal, match='nothing answers at'):
        check_reachable(endpoint)
