"""What the APIs of models say of tokens, and what they must not be asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coevo.agents.apis import APIS
from coevo.agents.apis.base import documents
from coevo.agents.usage import Usage

MESSAGES, CHAT, RESPONSES = '/v1/messages', '/v1/chat/completions', '/v1/responses'
GEMINI = '/v1beta/models/gemini-x:generateContent'


def test_a_stream_of_messages_is_counted_once() -> None:
    """Its last event has the output so far; what the cache took and gave is apart."""
    content = (
        b'event: message_start\n'
        b'data: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":5,'
        b'"cache_read_input_tokens":70,"cache_creation_input_tokens":30,'
        b'"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},'
        b'"output_tokens":1}}}\n\n'
        b'event: message_delta\n'
        b'data: {"type":"message_delta","delta":{},"usage":{"output_tokens":40}}\n\n'
        b'data: {"type":"mess'
    )
    found = APIS['anthropic'].usage(MESSAGES, documents('text/event-stream', content))
    assert found == Usage(
        model='claude-x', input=5, read=70, written=10, written_long=20, output=40
    )
    assert found.tokens == 145


def test_a_stream_of_gemini_is_counted_by_its_last_event() -> None:
    content = (
        b'data: {"usageMetadata": {"promptTokenCount": 9}, "modelVersion": "gemini-x"}\r\n\r\n'
        b'data: {"usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4,'
        b' "candidatesTokenCount": 2, "thoughtsTokenCount": 3}, "modelVersion": "gemini-x-001"}\n'
    )
    found = APIS['gemini'].usage(GEMINI, documents('text/event-stream', content))
    assert found == Usage(model='gemini-x-001', input=5, read=4, output=5)


@pytest.mark.parametrize(
    ('path', 'side', 'other', 'event'),
    [(CHAT, 'prompt', 'completion', None), (RESPONSES, 'input', 'output', 'response')],
)
def test_both_apis_of_openai_are_counted(
    path: str, side: str, other: str, event: str | None
) -> None:
    cached = {f'{side}_tokens_details': {'cached_tokens': 4}}
    answer = {'model': 'gpt-x', 'usage': {f'{side}_tokens': 9, f'{other}_tokens': 2, **cached}}
    told = json.dumps({event: answer} if event else answer).encode()
    found = APIS['openai'].usage(path, documents('application/json', told))
    assert found == Usage(model='gpt-x', input=5, read=4, output=2)


@pytest.mark.parametrize('name', APIS)
def test_an_answer_without_counts_is_unknown(name: str) -> None:
    for content in (b'', b'[DONE]', b'{}', b'[1, {"model": "x"}]', b'{"usage": null}'):
        kind = 'application/json'
        assert APIS[name].usage(CHAT, documents(kind, content)) is None


OWN = [
    ('anthropic', MESSAGES, {'tools': [{'name': 'Bash', 'input_schema': {}}]}),
    ('anthropic', MESSAGES, {'tools': [{'type': 'bash_20250124', 'name': 'bash'}]}),
    ('gemini', GEMINI, {'tools': [{'functionDeclarations': [{'name': 'sh'}]}]}),
    ('openai', CHAT, {'tools': [{'type': 'function', 'function': {'name': 'bash'}}]}),
    ('openai', CHAT, {'stream': True, 'stream_options': {'include_usage': True}}),
    (
        'openai',
        CHAT,
        {'messages': [{'content': [{'image_url': {'url': 'data:image/png;base64,AA'}}]}]},
    ),
]

FOREIGN = [
    ('anthropic', MESSAGES, {'tools': [{'type': 'web_search_20250305', 'name': 'web_search'}]}),
    ('anthropic', MESSAGES, {'tools': [{'type': 'web_fetch_20250910', 'name': 'web_fetch'}]}),
    ('anthropic', MESSAGES, {'tools': {'type': 'code_execution_20250825'}}),
    ('anthropic', MESSAGES, {'tools': ['web_search']}),
    ('anthropic', MESSAGES, {'mcp_servers': [{'url': 'https://example.org'}]}),
    (
        'anthropic',
        MESSAGES,
        {'messages': [{'content': [{'source': {'type': 'url', 'url': 'https://example.org'}}]}]},
    ),
    ('gemini', GEMINI, {'tools': [{'googleSearch': {}}]}),
    ('gemini', GEMINI, {'tools': {'url_context': {}}}),
    ('gemini', GEMINI, {'contents': [{'parts': [{'fileData': {'fileUri': 'https://e.org'}}]}]}),
    ('openai', RESPONSES, {'tools': [{'type': 'web_search_preview'}]}),
    ('openai', RESPONSES, {'tools': [{'type': 'mcp', 'server_url': 'https://example.org'}]}),
    ('openai', CHAT, {'web_search_options': {}}),
    ('openai', CHAT, {'plugins': [{'id': 'web'}]}),
    ('openai', CHAT, {'model': 'gpt-4o-search-preview'}),
    ('openai', CHAT, {'model': 'openai/gpt-4o:online'}),
    ('openai', RESPONSES, {'background': True}),
    ('openai', CHAT, {'messages': [{'content': [{'image_url': {'url': 'https://e.org'}}]}]}),
    ('openai', RESPONSES, {'input': [{'content': [{'file_url': 'https://example.org'}]}]}),
    ('openai', CHAT, {'stream': True}),
]


@pytest.mark.parametrize(('name', 'path', 'request_'), OWN)
def test_an_agents_own_tools_are_passed_on(name: str, path: str, request_: dict[str, Any]) -> None:
    assert APIS[name].objection(path, request_) is None


@pytest.mark.parametrize(('name', 'path', 'request_'), FOREIGN)
def test_what_the_endpoint_would_reach_is_refused(
    name: str, path: str, request_: dict[str, Any]
) -> None:
    assert APIS[name].objection(path, request_) is not None


@pytest.mark.parametrize(
    ('name', 'path'),
    [
        ('anthropic', '/v1/files'),
        ('anthropic', '/v1/messages/batches'),
        ('gemini', '/v1beta/files'),
        ('gemini', '/v1beta/models/../files:generateContent'),
        ('openai', '/v1/responses/resp_1'),
        ('openai', '/v1/embeddings'),
    ],
)
def test_only_calls_of_a_round_are_served(name: str, path: str) -> None:
    assert not APIS[name].serves('POST', path)
    assert not APIS[name].serves('GET', MESSAGES)
