"""Anthropic's Messages API (https://docs.claude.com/en/api/messages)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo.agents.apis.base import (
    Document,
    Shape,
    allow_anything,
    check_model_name,
    check_scalar,
    get_token_count_at_path,
    list_of,
    object_by_type,
    object_of,
    one_of,
    text_or,
)
from coevo.agents.costs import Usage

ENDPOINT = 'https://api.anthropic.com'
KEY_VARIABLE = 'ANTHROPIC_API_KEY'

_MESSAGES, _COUNT = '/v1/messages', '/v1/messages/count_tokens'

# Tools that the agent runs itself. All other types run at the endpoint, which has a network; a
# search for tools is allowed, since it only searches the tools of the request.
_OWN_TOOLS = ('bash_', 'text_editor_', 'memory_', 'computer_', 'tool_search_tool_')

_CACHED: dict[str, Shape] = {
    'cache_control': object_of({'type': check_scalar, 'ttl': check_scalar, 'scope': check_scalar})
}
_TEXT = object_of({'text': check_scalar, 'citations': allow_anything, **_CACHED})
_SOURCE = object_by_type(
    {
        'base64': object_of({'media_type': check_scalar, 'data': check_scalar}),
        'text': object_of({'media_type': check_scalar, 'data': check_scalar}),
        'content': object_of({'content': text_or(list_of(object_by_type({'text': _TEXT})))}),
    }
)
_IMAGE = object_of({'source': _SOURCE, **_CACHED}, 'source')
_DOCUMENT = object_of(
    {
        'source': _SOURCE,
        'title': check_scalar,
        'context': check_scalar,
        'citations': object_of({'enabled': check_scalar}),
        **_CACHED,
    },
    'source',
)
_RESULT = {
    'text': _TEXT,
    'image': _IMAGE,
    'document': _DOCUMENT,
    'tool_reference': object_of({'tool_name': check_scalar, **_CACHED}),
}
_CALL = {
    'id': check_scalar,
    'input': allow_anything,
    'caller': object_by_type({'direct': object_of({})}),
    **_CACHED,
}
_BLOCK = object_by_type(
    {
        'text': _TEXT,
        'image': _IMAGE,
        'document': _DOCUMENT,
        'thinking': object_of({'thinking': check_scalar, 'signature': check_scalar}),
        'redacted_thinking': object_of({'data': check_scalar}),
        'compaction': object_of(
            {'content': check_scalar, 'encrypted_content': check_scalar, **_CACHED}
        ),
        'tool_use': object_of({'name': check_scalar, **_CALL}),
        'tool_result': object_of(
            {
                'tool_use_id': check_scalar,
                'is_error': check_scalar,
                'content': text_or(list_of(object_by_type(_RESULT))),
                **_CACHED,
            }
        ),
        'server_tool_use': object_of(
            {'name': one_of('tool_search_tool_regex', 'tool_search_tool_bm25'), **_CALL}, 'name'
        ),
        'tool_search_tool_result': object_of(
            {'tool_use_id': check_scalar, 'content': allow_anything, **_CACHED}
        ),
    }
)
_MESSAGE = object_of({'role': check_scalar, 'content': text_or(list_of(_BLOCK))})
_OF_TOOLS: dict[str, Shape] = {
    'name': check_scalar,
    'description': check_scalar,
    'input_schema': allow_anything,
    'input_examples': allow_anything,
    'strict': check_scalar,
    'defer_loading': check_scalar,
    'eager_input_streaming': check_scalar,
    'allowed_callers': list_of(one_of('direct')),
    **_CACHED,
}
_OWN = object_of(
    {
        **_OF_TOOLS,
        'max_characters': check_scalar,
        'display_width_px': check_scalar,
        'display_height_px': check_scalar,
        'display_number': check_scalar,
        'enable_zoom': check_scalar,
    }
)


def _check_tool(value: object, place: str) -> str | None:
    kind = value.get('type') if isinstance(value, dict) else None
    if isinstance(kind, str) and kind.startswith(_OWN_TOOLS):
        return object_by_type({kind: _OWN})(value, place)
    return object_by_type({'custom': object_of(_OF_TOOLS)}, object_of(_OF_TOOLS))(value, place)


_EDIT = object_of(
    {
        'type': check_scalar,
        'trigger': allow_anything,
        'keep': allow_anything,
        'clear_at_least': allow_anything,
        'exclude_tools': list_of(check_scalar),
        'clear_tool_inputs': allow_anything,
        'instructions': check_scalar,
        'pause_after_compaction': check_scalar,
    }
)
_FORMAT = object_of({'type': check_scalar, 'schema': allow_anything})
_REQUEST = object_of(
    {
        'model': check_model_name,
        'messages': list_of(_MESSAGE),
        'system': text_or(list_of(object_by_type({'text': _TEXT}))),
        'tools': list_of(_check_tool),
        'tool_choice': object_of(
            {'type': check_scalar, 'name': check_scalar, 'disable_parallel_tool_use': check_scalar}
        ),
        'thinking': object_of(
            {'type': check_scalar, 'budget_tokens': check_scalar, 'display': check_scalar}
        ),
        'context_management': object_of({'edits': list_of(_EDIT)}),
        'output_config': object_of(
            {
                'effort': check_scalar,
                'format': _FORMAT,
                'task_budget': object_of(
                    {'type': check_scalar, 'total': check_scalar, 'remaining': check_scalar}
                ),
            }
        ),
        'output_format': _FORMAT,
        'metadata': object_of({'user_id': check_scalar}),
        'diagnostics': object_of({'previous_message_id': check_scalar}),
        'stop_sequences': list_of(check_scalar),
        **_CACHED,
        **dict.fromkeys(
            (
                *('max_tokens', 'temperature', 'top_k', 'top_p', 'stream'),
                *('service_tier', 'inference_geo', 'speed'),
            ),
            check_scalar,
        ),
    }
)


def build_auth_headers(key: str) -> Mapping[str, str]:
    """Return the header that carries the key, as Anthropic's API expects it."""
    return {'x-api-key': key}


def accepts_call(method: str, path: str) -> bool:
    """Return whether an agent needs this call: a message, or a count of tokens."""
    return method == 'POST' and path in (_MESSAGES, _COUNT)


def is_model_call(path: str) -> bool:
    """Return whether a model answers this call; false for a count of tokens."""
    return path == _MESSAGES


def find_objection(path: str, request: Document) -> str | None:
    """Return why a request is not forwarded; None if all of its fields are allowed."""
    return _REQUEST(request, '')


def extract_usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """Return the tokens and the model that an answer states; None if it states none.

    Later events of a stream repeat the first counts or add to them.
    """
    counts: dict[str, object] = {}
    named: str | None = None
    for document in answer:
        message = document.get('message') if document.get('type') == 'message_start' else document
        if isinstance(message, dict):
            named = message.get('model') or named
            counts |= {k: v for k, v in (message.get('usage') or {}).items() if v is not None}
    if named is None or not counts:
        return None
    written = get_token_count_at_path(counts, 'cache_creation_input_tokens')
    long = get_token_count_at_path(counts, 'cache_creation', 'ephemeral_1h_input_tokens')
    return Usage(
        model=named,
        input=get_token_count_at_path(counts, 'input_tokens'),
        read=get_token_count_at_path(counts, 'cache_read_input_tokens'),
        written=max(written - long, 0),
        written_long=long,
        output=get_token_count_at_path(counts, 'output_tokens'),
    )
