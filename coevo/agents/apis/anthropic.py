"""Anthropic's Messages API (https://docs.claude.com/en/api/messages)."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import number
from coevo.agents.apis.fields import Shape
from coevo.agents.apis.fields import each
from coevo.agents.apis.fields import free
from coevo.agents.apis.fields import kinds
from coevo.agents.apis.fields import model
from coevo.agents.apis.fields import one_of
from coevo.agents.apis.fields import plain
from coevo.agents.apis.fields import record
from coevo.agents.apis.fields import texts_of
from coevo.agents.usage import Usage

ENDPOINT = 'https://api.anthropic.com'
KEY_VARIABLE = 'ANTHROPIC_API_KEY'

_MESSAGES, _COUNT = '/v1/messages', '/v1/messages/count_tokens'

# Tools that the agent carries out itself; all other types run at the endpoint, which has a network.
# A search for tools looks through those of the request.
_OWN_TOOLS = ('bash_', 'text_editor_', 'memory_', 'computer_', 'tool_search_tool_')

_CACHED: dict[str, Shape] = {'cache_control': record({'type': plain, 'ttl': plain, 'scope': plain})}
_TEXT = record({'text': plain, 'citations': free, **_CACHED})
_SOURCE = kinds(
    {
        'base64': record({'media_type': plain, 'data': plain}),
        'text': record({'media_type': plain, 'data': plain}),
        'content': record({'content': texts_of(each(kinds({'text': _TEXT})))}),
    }
)
_IMAGE = record({'source': _SOURCE, **_CACHED}, 'source')
_DOCUMENT = record(
    {
        'source': _SOURCE,
        'title': plain,
        'context': plain,
        'citations': record({'enabled': plain}),
        **_CACHED,
    },
    'source',
)
_RESULT = {
    'text': _TEXT,
    'image': _IMAGE,
    'document': _DOCUMENT,
    'tool_reference': record({'tool_name': plain, **_CACHED}),
}
_CALL = {'id': plain, 'input': free, 'caller': kinds({'direct': record({})}), **_CACHED}
_BLOCK = kinds(
    {
        'text': _TEXT,
        'image': _IMAGE,
        'document': _DOCUMENT,
        'thinking': record({'thinking': plain, 'signature': plain}),
        'redacted_thinking': record({'data': plain}),
        'compaction': record({'content': plain, 'encrypted_content': plain, **_CACHED}),
        'tool_use': record({'name': plain, **_CALL}),
        'tool_result': record(
            {
                'tool_use_id': plain,
                'is_error': plain,
                'content': texts_of(each(kinds(_RESULT))),
                **_CACHED,
            }
        ),
        'server_tool_use': record(
            {'name': one_of('tool_search_tool_regex', 'tool_search_tool_bm25'), **_CALL}, 'name'
        ),
        'tool_search_tool_result': record({'tool_use_id': plain, 'content': free, **_CACHED}),
    }
)
_MESSAGE = record({'role': plain, 'content': texts_of(each(_BLOCK))})
_OF_TOOLS: dict[str, Shape] = {
    'name': plain,
    'description': plain,
    'input_schema': free,
    'input_examples': free,
    'strict': plain,
    'defer_loading': plain,
    'eager_input_streaming': plain,
    'allowed_callers': each(one_of('direct')),
    **_CACHED,
}
_OWN = record(
    {
        **_OF_TOOLS,
        'max_characters': plain,
        'display_width_px': plain,
        'display_height_px': plain,
        'display_number': plain,
        'enable_zoom': plain,
    }
)


def _tool(value: object, place: str) -> str | None:
    kind = value.get('type') if isinstance(value, dict) else None
    if isinstance(kind, str) and kind.startswith(_OWN_TOOLS):
        return kinds({kind: _OWN})(value, place)
    return kinds({'custom': record(_OF_TOOLS)}, record(_OF_TOOLS))(value, place)


_EDIT = record(
    {
        'type': plain,
        'trigger': free,
        'keep': free,
        'clear_at_least': free,
        'exclude_tools': each(plain),
        'clear_tool_inputs': free,
        'instructions': plain,
        'pause_after_compaction': plain,
    }
)
_FORMAT = record({'type': plain, 'schema': free})
_REQUEST = record(
    {
        'model': model,
        'messages': each(_MESSAGE),
        'system': texts_of(each(kinds({'text': _TEXT}))),
        'tools': each(_tool),
        'tool_choice': record({'type': plain, 'name': plain, 'disable_parallel_tool_use': plain}),
        'thinking': record({'type': plain, 'budget_tokens': plain, 'display': plain}),
        'context_management': record({'edits': each(_EDIT)}),
        'output_config': record(
            {
                'effort': plain,
                'format': _FORMAT,
                'task_budget': record({'type': plain, 'total': plain, 'remaining': plain}),
            }
        ),
        'output_format': _FORMAT,
        'metadata': record({'user_id': plain}),
        'diagnostics': record({'previous_message_id': plain}),
        'stop_sequences': each(plain),
        **_CACHED,
        **dict.fromkeys(
            (
                *('max_tokens', 'temperature', 'top_k', 'top_p', 'stream'),
                *('service_tier', 'inference_geo', 'speed'),
            ),
            plain,
        ),
    }
)


def credentials(key: str) -> Mapping[str, str]:
    return {'x-api-key': key}


def serves(method: str, path: str) -> bool:
    return method == 'POST' and path in (_MESSAGES, _COUNT)


def is_round(path: str) -> bool:
    return path == _MESSAGES


def objection(path: str, request: Document) -> str | None:
    return _REQUEST(request, '')


def usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """A stream's later events repeat or complete the counts of its first."""
    counts: dict[str, object] = {}
    named: str | None = None
    for document in answer:
        message = document.get('message') if document.get('type') == 'message_start' else document
        if isinstance(message, dict):
            named = message.get('model') or named
            counts |= {k: v for k, v in (message.get('usage') or {}).items() if v is not None}
    if named is None or not counts:
        return None
    written = number(counts, 'cache_creation_input_tokens')
    long = number(counts, 'cache_creation', 'ephemeral_1h_input_tokens')
    return Usage(
        model=named,
        input=number(counts, 'input_tokens'),
        read=number(counts, 'cache_read_input_tokens'),
        written=max(written - long, 0),
        written_long=long,
        output=number(counts, 'output_tokens'),
    )
