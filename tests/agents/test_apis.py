"""What the APIs of models say of tokens, and what they must not be asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coevo.agents.apis import APIS
from coevo.agents.apis.base import parse_usage_documents
from coevo.agents.costs import Usage

MESSAGES, CHAT, RESPONSES = '/v1/messages', '/v1/chat/completions', '/v1/responses'
GEMINI = '/v1beta/models/gemini-x:generateContent'


def test_anthropic_stream_usage_is_counted_once() -> None:
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
    found = APIS['anthropic'].extract_usage(
        MESSAGES, parse_usage_documents('text/event-stream', content)
    )
    assert found == Usage(
        model='claude-x', input=5, read=70, written=10, written_long=20, output=40
    )
    assert found.tokens == 145


def test_gemini_stream_usage_is_taken_from_its_last_event() -> None:
    content = (
        b'data: {"usageMetadata": {"promptTokenCount": 9}, "modelVersion": "gemini-x"}\r\n\r\n'
        b'data: {"usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4,'
        b' "candidatesTokenCount": 2, "thoughtsTokenCount": 3}, "modelVersion": "gemini-x-001"}\n'
    )
    found = APIS['gemini'].extract_usage(
        GEMINI, parse_usage_documents('text/event-stream', content)
    )
    assert found == Usage(model='gemini-x-001', input=5, read=4, output=5)


@pytest.mark.parametrize(
    ('path', 'side', 'other', 'event'),
    [(CHAT, 'prompt', 'completion', None), (RESPONSES, 'input', 'output', 'response')],
)
def test_usage_is_read_from_openai_chat_and_responses_answers(
    path: str, side: str, other: str, event: str | None
) -> None:
    cached = {f'{side}_tokens_details': {'cached_tokens': 4}}
    answer = {'model': 'gpt-x', 'usage': {f'{side}_tokens': 9, f'{other}_tokens': 2, **cached}}
    told = json.dumps({event: answer} if event else answer).encode()
    found = APIS['openai'].extract_usage(path, parse_usage_documents('application/json', told))
    assert found == Usage(model='gpt-x', input=5, read=4, output=2)


@pytest.mark.parametrize('name', APIS)
def test_answer_without_token_counts_has_no_usage(name: str) -> None:
    for content in (b'', b'[DONE]', b'{}', b'[1, {"model": "x"}]', b'{"usage": null}'):
        kind = 'application/json'
        assert APIS[name].extract_usage(CHAT, parse_usage_documents(kind, content)) is None


DATA = 'data:image/png;base64,AA'
SCHEMA = {'type': 'object', 'properties': {'url': {'type': 'string', 'format': 'uri'}}}
CACHE = {'cache_control': {'type': 'ephemeral', 'ttl': '1h'}}
SHELL = {'name': 'bash', 'description': 'runs', 'parameters': SCHEMA, 'strict': True}

# As Claude Code, Gemini CLI, mini-SWE-agent and SWE-agent ask, and what else an agent does by itself.
OWN = [
    (
        'anthropic',
        MESSAGES,
        {
            'model': 'claude-opus-4-7',
            'max_tokens': 32000,
            'stream': True,
            'temperature': 1,
            'metadata': {'user_id': 'u'},
            'thinking': {'type': 'enabled', 'budget_tokens': 31999},
            'context_management': {'edits': [{'type': 'clear_thinking_20251015', 'keep': 'all'}]},
            'output_config': {'effort': 'high'},
            'system': [{'type': 'text', 'text': 'You …', **CACHE}],
            'tools': [
                {'name': 'Bash', 'description': 'x', 'input_schema': SCHEMA, **CACHE},
                {'type': 'bash_20250124', 'name': 'bash'},
                {'type': 'custom', 'name': 'x', 'input_schema': {}, 'defer_loading': True},
            ],
            'tool_choice': {'type': 'auto', 'disable_parallel_tool_use': True},
            'messages': [
                {'role': 'user', 'content': 'https://example.org is a text'},
                {
                    'role': 'assistant',
                    'content': [
                        {'type': 'thinking', 'thinking': 't', 'signature': 's'},
                        {'type': 'redacted_thinking', 'data': 'd'},
                        {
                            'type': 'tool_use',
                            'id': 'toolu_1',
                            'name': 'Bash',
                            'input': {'url': 'https://example.org', 'type': 'url'},
                            'caller': {'type': 'direct'},
                        },
                    ],
                },
                {
                    'role': 'user',
                    'content': [
                        {
                            'type': 'tool_result',
                            'tool_use_id': 'toolu_1',
                            'is_error': False,
                            'content': [
                                {'type': 'text', 'text': 'ok'},
                                {
                                    'type': 'image',
                                    'source': {
                                        'type': 'base64',
                                        'media_type': 'image/png',
                                        'data': 'AA',
                                    },
                                },
                            ],
                            **CACHE,
                        }
                    ],
                },
            ],
        },
    ),
    (
        'gemini',
        GEMINI,
        {
            'contents': [
                {'role': 'user', 'parts': [{'text': 'https://example.org'}]},
                {
                    'role': 'model',
                    'parts': [
                        {'text': 't', 'thought': True, 'thoughtSignature': 's'},
                        {'functionCall': {'id': '1', 'name': 'sh', 'args': {'file_data': 'x'}}},
                    ],
                },
                {
                    'role': 'user',
                    'parts': [
                        {
                            'functionResponse': {
                                'id': '1',
                                'name': 'sh',
                                'response': {'output': 'x', 'file_uri': 'https://example.org'},
                            }
                        },
                        {'inline_data': {'mime_type': 'image/png', 'data': 'AA'}},
                    ],
                },
            ],
            'systemInstruction': {'role': 'user', 'parts': [{'text': 'You …'}]},
            'tools': [{'functionDeclarations': [{'name': 'sh', 'parametersJsonSchema': SCHEMA}]}],
            'toolConfig': {'functionCallingConfig': {'mode': 'AUTO'}},
            'safetySettings': [{'category': 'c', 'threshold': 'OFF'}],
            'generationConfig': {
                'temperature': 1,
                'topP': 0.95,
                'topK': 64,
                'responseMimeType': 'application/json',
                'responseJsonSchema': SCHEMA,
                'thinkingConfig': {'includeThoughts': True, 'thinkingBudget': 8192},
            },
        },
    ),
    (
        'gemini',
        '/v1beta/models/gemini-x:countTokens',
        {'generateContentRequest': {'model': 'models/gemini-x', 'contents': [{'parts': []}]}},
    ),
    (
        'openai',
        CHAT,
        {
            'model': 'openai/gpt-5',
            'messages': [
                {'role': 'system', 'content': [{'type': 'text', 'text': 'You …', **CACHE}]},
                {'role': 'user', 'content': [{'type': 'image_url', 'image_url': {'url': DATA}}]},
                {
                    'role': 'assistant',
                    'content': None,
                    'refusal': None,
                    'annotations': [],
                    'function_call': None,
                    'provider_specific_fields': {'refusal': None},
                    'tool_calls': [
                        {
                            'id': 'c',
                            'index': 0,
                            'type': 'function',
                            'function': {'name': 'bash', 'arguments': '{"url": "https://e.org"}'},
                        }
                    ],
                },
                {'role': 'tool', 'tool_call_id': 'c', 'name': 'bash', 'content': 'ok'},
            ],
            'tools': [{'type': 'function', 'function': SHELL}],
            'tool_choice': {'type': 'function', 'function': {'name': 'bash'}},
            'parallel_tool_calls': True,
            'temperature': 0.0,
            'top_p': 1.0,
            'reasoning_effort': 'high',
            'web_search_options': None,
            'stream': True,
            'stream_options': {'include_usage': True},
        },
    ),
    (
        'openai',
        RESPONSES,
        {
            'model': 'gpt-5',
            'instructions': 'You …',
            'input': [
                {'role': 'user', 'content': 'Mend it.'},
                {'type': 'reasoning', 'id': 'rs_1', 'summary': [], 'encrypted_content': 'x'},
                {'type': 'function_call', 'call_id': 'c', 'name': 'bash', 'arguments': '{}'},
                {'type': 'function_call_output', 'call_id': 'c', 'output': 'ok'},
                {
                    'type': 'message',
                    'role': 'user',
                    'content': [
                        {'type': 'input_text', 'text': 'x'},
                        {'type': 'input_image', 'image_url': DATA, 'detail': 'auto'},
                        {'type': 'input_file', 'file_data': 'data:,x', 'filename': 'x'},
                    ],
                },
            ],
            'include': ['reasoning.encrypted_content'],
            'tools': [{'type': 'function', **SHELL}, {'type': 'local_shell'}],
            'tool_choice': 'auto',
            'store': False,
            'previous_response_id': None,
            'background': False,
            'reasoning': {'effort': 'high', 'summary': 'auto'},
            'text': {'format': {'type': 'text'}, 'verbosity': 'low'},
            'max_output_tokens': 100,
        },
    ),
]


def said(kind: str, **fields: object) -> dict[str, Any]:
    """A message of one part, where all three makers have them."""
    part = {'type': kind, **fields}
    return {'messages': [{'role': 'user', 'content': [part]}]}


def asked(**fields: object) -> dict[str, Any]:
    return {'input': [{'role': 'user', 'content': [fields]}]}


def part(**fields: object) -> dict[str, Any]:
    return {'contents': [{'parts': [fields]}]}


URL = 'https://example.org'

FOREIGN: list[tuple[str, str, dict[str, Any], str]] = [
    *(
        ('anthropic', MESSAGES, request, named)
        for request, named in (
            ({'tools': [{'type': 'web_search_20250305', 'name': 'web_search'}]}, 'tools[0].type'),
            ({'tools': [{'type': 'web_fetch_20250910', 'name': 'web_fetch'}]}, 'tools[0].type'),
            ({'tools': {'type': 'code_execution_20250825'}}, 'tools'),
            ({'tools': ['web_search']}, 'tools[0]'),
            ({'tools': [{'type': ['custom']}]}, 'tools[0].type'),
            ({'tools': [{'type': 'mcp_toolset', 'mcp_server_name': 'x'}]}, 'tools[0].type'),
            (
                {'tools': [{'name': 'x', 'allowed_callers': ['code_execution_20250825']}]},
                'allowed_callers',
            ),
            ({'mcp_servers': [{'url': URL}]}, 'mcp_servers'),
            ({'container': 'container_1'}, 'container'),
            ({'fallbacks': [{'model': 'x'}]}, 'fallbacks'),
            ({'thread': {'id': 'x'}}, 'thread'),
            ({'user_profile_id': 'x'}, 'user_profile_id'),
            ({'what_comes_next_year': 1}, 'what_comes_next_year'),
            ({'model': 'claude-x:online'}, ':online'),
            (said('image', source={'type': 'url', 'url': URL}), 'source.type'),
            (said('image', source={'type': 'file', 'file_id': 'f'}), 'source.type'),
            (said('image', source={'type': 'URL', 'url': URL}), 'source.type'),
            (said('image', source={'type': 'base64', 'data': 'A', 'url': URL}), 'source.url'),
            (said('container_upload', file_id='f'), 'type'),
            (said('search_result', source=URL), 'type'),
            (said('server_tool_use', id='1', name='web_search', input={}), 'name'),
            (said('web_search_tool_result', tool_use_id='1', content=[]), 'type'),
            (said('mcp_tool_use', id='1', server_name='x'), 'type'),
            (
                said(
                    'tool_result',
                    tool_use_id='1',
                    content=[{'type': 'image', 'source': {'type': 'url', 'url': URL}}],
                ),
                'source.type',
            ),
            ({'system': [{'type': 'image', 'source': {'type': 'url'}}]}, 'system[0].type'),
        )
    ),
    *(
        ('gemini', GEMINI, request, named)
        for request, named in (
            ({'tools': [{'googleSearch': {}}]}, 'googleSearch'),
            ({'tools': [{'google_search_retrieval': {}}]}, 'googleSearchRetrieval'),
            ({'tools': {'url_context': {}}}, 'tools'),
            ({'tools': [{'fileSearch': {}}]}, 'fileSearch'),
            ({'tools': [{'mcpServers': []}]}, 'mcpServers'),
            ({'tools': [{'functionDeclarations': [], 'codeExecution': {}}]}, 'codeExecution'),
            ({'cachedContent': 'cachedContents/x'}, 'cachedContent'),
            ({'cached_content': 'cachedContents/x'}, 'cachedContent'),
            ({'toolConfig': {'retrievalConfig': {}}}, 'retrievalConfig'),
            ({'generationConfig': {'routingConfig': {}}}, 'routingConfig'),
            (part(fileData={'fileUri': URL}), 'fileData'),
            (part(file_data={'file_uri': URL}), 'fileData'),
            (part(File_data={'file_uri': URL}), 'FileData'),
            ({'system_instruction': {'parts': [{'fileData': {}}]}}, 'fileData'),
            (part(functionResponse={'parts': [{'fileData': {'fileUri': URL}}]}), 'fileData'),
            (part(executableCode={'code': 'x'}), 'executableCode'),
            ({'generateContentRequest': {'cachedContent': 'x'}}, 'cachedContent'),
            ({'tools': [], 'tool_s': 1}, 'toolS'),
            ({'toolConfig': {}, 'tool_config': {'retrieval_config': {}}}, 'twice'),
        )
    ),
    ('gemini', '/v1beta/models/gemini-search:generateContent', {}, 'gemini-search'),
    *(
        ('openai', CHAT, request, named)
        for request, named in (
            ({'web_search_options': {}}, 'web_search_options'),
            ({'plugins': [{'id': 'web'}]}, 'plugins'),
            ({'model': 'gpt-4o-search-preview'}, 'gpt-4o-search-preview'),
            ({'model': 'openai/gpt-4o:online'}, ':online'),
            ({'model': 'openai/gpt-4o:ONLINE'}, ':ONLINE'),
            ({'model': 'openai/gpt-4o:Online:free'}, ':Online'),
            ({'model': 'openai/gpt-4o:online '}, ':online'),
            ({'model': 'o3-Deep-Research'}, 'o3-Deep-Research'),
            ({'model': '@preset/mine'}, '@preset/mine'),
            ({'model': ['gpt-5']}, 'model'),
            ({'models': ['a', 'b:online']}, 'models'),
            ({'fallbacks': ['b:online']}, 'fallbacks'),
            ({'route': 'fallback'}, 'route'),
            ({'preset': 'mine'}, 'preset'),
            ({'provider': {'order': []}}, 'provider'),
            ({'search_parameters': {'mode': 'on'}}, 'search_parameters'),
            ({'extra_body': {'plugins': []}}, 'extra_body'),
            ({'modalities': ['audio']}, 'modalities'),
            ({'tools': [{'type': 'web_search'}]}, 'tools[0].type'),
            ({'tools': [{'function': {'name': 'x'}}]}, 'tools[0].type'),
            (
                {
                    'tool_choice': {
                        'type': 'allowed_tools',
                        'allowed_tools': {'tools': [{'type': 'mcp'}]},
                    }
                },
                'tools[0].type',
            ),
            (said('image_url', image_url={'url': URL}), 'image_url.url'),
            (said('image_url', image_url={'url': ' data:,'}), 'image_url.url'),
            (said('image_url', image_url=URL), 'image_url'),
            (said('image_url', image_url=['x']), 'image_url'),
            (said('file', file={'file_id': 'f'}), 'file_data'),
            (said('file', file={'file_data': 'x', 'file_id': 'f'}), 'file_id'),
            (said('video_url', video_url={'url': URL}), 'type'),
            ({'stream': True}, 'stream_options'),
            ({'stream': 1, 'stream_options': {'include_usage': 0}}, 'stream_options'),
        )
    ),
    *(
        ('openai', RESPONSES, request, named)
        for request, named in (
            ({'tools': [{'type': 'web_search_preview'}]}, 'tools[0].type'),
            ({'tools': [{'type': 'file_search', 'vector_store_ids': ['v']}]}, 'tools[0].type'),
            ({'tools': [{'type': 'code_interpreter', 'container': {}}]}, 'tools[0].type'),
            ({'tools': [{'type': 'mcp', 'server_url': URL}]}, 'tools[0].type'),
            ({'tools': [{'type': 'mcp', 'connector_id': 'x'}]}, 'tools[0].type'),
            ({'tools': [{'type': 'shell', 'environment': {}}]}, 'tools[0].type'),
            ({'tools': [{'type': 'function', 'server_url': URL}]}, 'server_url'),
            ({'previous_response_id': 'resp_1'}, 'previous_response_id'),
            ({'conversation': 'conv_1'}, 'conversation'),
            ({'prompt': {'id': 'pmpt_1'}}, 'prompt'),
            ({'background': True}, 'background'),
            ({'background': 1}, 'background'),
            ({'include': ['web_search_call.action.sources']}, 'include[0]'),
            ({'multi_agent': {}}, 'multi_agent'),
            ({'models': ['x']}, 'models'),
            ({'input': [{'type': 'item_reference', 'id': 'msg_1'}]}, 'type'),
            ({'input': [{'id': 'msg_1'}]}, 'role'),
            ({'input': [{'type': 'message', 'id': 'msg_1', 'role': 'user'}]}, 'content'),
            ({'input': [{'type': 'function_call', 'id': 'fc_1'}]}, 'arguments'),
            ({'input': [{'type': 'web_search_call', 'id': 'ws_1'}]}, 'type'),
            (asked(type='input_file', file_url=URL), 'file_data'),
            (asked(type='input_file', file_id='f'), 'file_data'),
            (asked(type='input_file', file_data='x', file_url=URL), 'file_url'),
            (asked(type='input_image', file_id='f'), 'image_url'),
            (asked(type='input_image', image_url=DATA, file_id='f'), 'file_id'),
            (asked(type='input_image', image_url=URL), 'image_url'),
            (asked(type='input_image', image_url='DATA:,'), 'image_url'),
            (
                {
                    'input': [
                        {
                            'type': 'function_call_output',
                            'call_id': 'c',
                            'output': [{'type': 'input_image', 'image_url': URL}],
                        }
                    ]
                },
                'image_url',
            ),
        )
    ),
]


@pytest.mark.parametrize(('name', 'path', 'request_'), OWN)
def test_requests_of_known_agents_raise_no_objection(
    name: str, path: str, request_: dict[str, Any]
) -> None:
    assert APIS[name].find_objection(path, request_) is None


@pytest.mark.parametrize(('name', 'path', 'request_', 'named'), FOREIGN)
def test_request_field_with_access_beyond_the_endpoint_is_refused_by_name(
    name: str, path: str, request_: dict[str, Any], named: str
) -> None:
    found = APIS[name].find_objection(path, request_)
    assert found is not None
    assert named in found
    assert '\n' not in found


@pytest.mark.parametrize('value', [1, 'x', [], {}, [[]], [{}], {'x': {}}, True, 1.5, ['x']])
@pytest.mark.parametrize(('name', 'path', 'request_'), OWN)
def test_request_field_of_wrong_type_is_accepted_or_named_in_the_objection(
    name: str, path: str, request_: dict[str, Any], value: object
) -> None:
    for field in request_:
        found = APIS[name].find_objection(path, {**request_, field: value})
        assert found is None or field in found or 'model' in found or 'stream' in found


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
def test_only_calls_that_make_a_model_round_are_accepted(name: str, path: str) -> None:
    assert not APIS[name].accepts_call('POST', path)
    assert not APIS[name].accepts_call('GET', MESSAGES)
