"""OpenAI's APIs for chat completions and responses, which many other endpoints offer, too.

https://platform.openai.com/docs/api-reference/chat and …/responses
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo.agents.apis.base import (
    Document,
    Shape,
    allow_anything,
    check_inline_url,
    check_model_name,
    check_scalar,
    get_token_count_at_path,
    list_of,
    mapping_of,
    object_by_type,
    object_of,
    one_of,
    text_or,
)
from coevo.agents.costs import Usage

ENDPOINT = 'https://api.openai.com'
KEY_VARIABLE = 'OPENAI_API_KEY'

_CHAT, _RESPONSES = '/v1/chat/completions', '/v1/responses'


def _inline_url_or(other: Shape) -> Shape:
    def check_inline_url_or_other(value: object, place: str) -> str | None:
        """Return the fault of a text that is no inline URL, or of any other value, else None."""
        return (check_inline_url if isinstance(value, str) else other)(value, place)

    return check_inline_url_or_other


_CACHED: dict[str, Shape] = {
    'cache_control': object_of({'type': check_scalar, 'ttl': check_scalar})
}
_FORMAT = object_of(
    {
        'type': check_scalar,
        'definition': check_scalar,
        'syntax': check_scalar,
        'grammar': allow_anything,
    }
)
_DECLARED: dict[str, Shape] = {
    'name': check_scalar,
    'description': check_scalar,
    'parameters': allow_anything,
    'strict': check_scalar,
}
_FREE_TEXT: dict[str, Shape] = {
    'name': check_scalar,
    'description': check_scalar,
    'format': _FORMAT,
}
_NAMED = object_of({'name': check_scalar})

# -- chat completions ------------------------------------------------------------------------------

_PART = object_by_type(
    {
        'text': object_of({'text': check_scalar, **_CACHED}),
        'refusal': object_of({'refusal': check_scalar}),
        'image_url': object_of(
            {
                'image_url': _inline_url_or(
                    object_of({'url': check_inline_url, 'detail': check_scalar})
                ),
                **_CACHED,
            }
        ),
        'input_audio': object_of(
            {'input_audio': object_of({'data': check_scalar, 'format': check_scalar})}
        ),
        'file': object_of(
            {'file': object_of({'file_data': check_scalar, 'filename': check_scalar}, 'file_data')}
        ),
        'thinking': object_of({'thinking': check_scalar, 'signature': check_scalar}),
    }
)
_FUNCTION_CALL = object_of({'name': check_scalar, 'arguments': check_scalar})
_TOOL_CALL = {
    'id': check_scalar,
    'index': check_scalar,
    'function': _FUNCTION_CALL,
    'custom': object_of({'name': check_scalar, 'input': check_scalar}),
}
_THINKING = object_of(
    {
        'type': check_scalar,
        'thinking': check_scalar,
        'signature': check_scalar,
        'data': check_scalar,
    }
)
_MESSAGE = object_of(
    {
        'content': text_or(list_of(_PART)),
        'tool_calls': list_of(
            object_by_type(
                {'function': object_of(_TOOL_CALL), 'custom': object_of(_TOOL_CALL)},
                object_of(_TOOL_CALL),
            )
        ),
        'function_call': _FUNCTION_CALL,
        'thinking_blocks': list_of(_THINKING),
        'reasoning_details': list_of(mapping_of(check_scalar)),
        'annotations': one_of([]),
        'provider_specific_fields': mapping_of(check_scalar),
        **dict.fromkeys(
            ('role', 'name', 'tool_call_id', 'refusal', 'reasoning', 'reasoning_content'),
            check_scalar,
        ),
        **_CACHED,
    }
)
_CHAT_TOOL = object_by_type(
    {
        'function': object_of(
            {'function': object_of(_DECLARED), 'strict': check_scalar, **_CACHED}
        ),
        'custom': object_of({'custom': object_of(_FREE_TEXT)}),
    }
)
_CHAT_CHOICE = object_by_type(
    {
        'function': object_of({'function': _NAMED}),
        'custom': object_of({'custom': _NAMED}),
        'allowed_tools': object_of(
            {'allowed_tools': object_of({'mode': check_scalar, 'tools': list_of(_CHAT_TOOL)})}
        ),
    }
)
_COMMON: dict[str, Shape] = {
    'model': check_model_name,
    'metadata': mapping_of(check_scalar),
    'reasoning': object_of(
        dict.fromkeys(
            ('effort', 'summary', 'generate_summary', 'max_tokens', 'exclude', 'enabled'),
            check_scalar,
        )
    ),
    **dict.fromkeys(
        (
            *('temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'stream', 'store'),
            *('service_tier', 'user', 'safety_identifier'),
            *('prompt_cache_key', 'prompt_cache_retention'),
        ),
        check_scalar,
    ),
}
_CHAT_REQUEST = object_of(
    {
        **_COMMON,
        'messages': list_of(_MESSAGE),
        'tools': list_of(_CHAT_TOOL),
        'tool_choice': text_or(_CHAT_CHOICE),
        'functions': list_of(object_of(_DECLARED)),
        'function_call': text_or(_NAMED),
        'stop': text_or(list_of(check_scalar)),
        'logit_bias': mapping_of(check_scalar),
        'modalities': list_of(one_of('text')),
        'prediction': object_of({'type': check_scalar, 'content': text_or(list_of(_PART))}),
        'response_format': object_of({'type': check_scalar, 'json_schema': allow_anything}),
        'stream_options': object_of(
            {'include_usage': check_scalar, 'include_obfuscation': check_scalar}
        ),
        'thinking': object_of({'type': check_scalar, 'budget_tokens': check_scalar}),
        **dict.fromkeys(
            (
                *('max_tokens', 'max_completion_tokens', 'n', 'seed', 'logprobs', 'verbosity'),
                *('frequency_penalty', 'presence_penalty', 'repetition_penalty'),
                *('top_k', 'min_p', 'reasoning_effort', 'include_reasoning'),
            ),
            check_scalar,
        ),
    }
)

# -- responses -------------------------------------------------------------------------------------

_STATED: dict[str, Shape] = {'id': check_scalar, 'status': check_scalar}
_INPUT = object_by_type(
    {
        'input_text': object_of({'text': check_scalar}),
        'output_text': object_of(
            {'text': check_scalar, 'annotations': one_of([]), 'logprobs': allow_anything}
        ),
        'refusal': object_of({'refusal': check_scalar}),
        'input_image': object_of(
            {'image_url': check_inline_url, 'detail': check_scalar}, 'image_url'
        ),
        'input_file': object_of(
            {'file_data': check_scalar, 'filename': check_scalar, 'detail': check_scalar},
            'file_data',
        ),
    }
)
_SAID = object_of(
    {'role': check_scalar, 'content': text_or(list_of(_INPUT)), 'phase': check_scalar, **_STATED},
    *('role', 'content'),
)
_CALLED: dict[str, Shape] = {'call_id': check_scalar, 'name': check_scalar, **_STATED}
_ANSWERED = object_of(
    {'call_id': check_scalar, 'output': text_or(list_of(_INPUT)), **_STATED}, 'output'
)
_TEXTS = list_of(object_of({'type': check_scalar, 'text': check_scalar}))
_ITEM = object_by_type(
    {
        'message': _SAID,
        'function_call': object_of({'arguments': check_scalar, **_CALLED}, 'arguments'),
        'function_call_output': _ANSWERED,
        'custom_tool_call': object_of({'input': check_scalar, **_CALLED}, 'input'),
        'custom_tool_call_output': _ANSWERED,
        'local_shell_call': object_of({'action': allow_anything, **_CALLED}, 'action'),
        'local_shell_call_output': _ANSWERED,
        'apply_patch_call': object_of({'operation': allow_anything, **_CALLED}, 'operation'),
        'apply_patch_call_output': object_of(
            {'call_id': check_scalar, 'output': check_scalar, **_STATED}
        ),
        'reasoning': object_of(
            {'summary': _TEXTS, 'content': _TEXTS, 'encrypted_content': check_scalar, **_STATED}
        ),
        'compaction': object_of(
            {'encrypted_content': check_scalar, **_STATED}, 'encrypted_content'
        ),
    },
    _SAID,
)
_TOOL = object_by_type(
    {
        'function': object_of({**_DECLARED, 'defer_loading': check_scalar}),
        'custom': object_of({**_FREE_TEXT, 'defer_loading': check_scalar}),
        'local_shell': object_of({}),
        'apply_patch': object_of({}),
    }
)
_CHOICE = object_by_type(
    {
        'function': _NAMED,
        'custom': _NAMED,
        'apply_patch': object_of({}),
        'allowed_tools': object_of({'mode': check_scalar, 'tools': list_of(_TOOL)}),
    }
)
_RESPONSES_REQUEST = object_of(
    {
        **_COMMON,
        'input': text_or(list_of(_ITEM)),
        'instructions': check_scalar,
        'include': list_of(one_of('reasoning.encrypted_content', 'message.output_text.logprobs')),
        'tools': list_of(_TOOL),
        'tool_choice': text_or(_CHOICE),
        'text': object_of(
            {
                'format': object_of({**_DECLARED, 'type': check_scalar, 'schema': allow_anything}),
                'verbosity': check_scalar,
            }
        ),
        'stream_options': object_of({'include_obfuscation': check_scalar}),
        'context_management': list_of(
            object_of({'type': one_of('compaction'), 'compact_threshold': check_scalar})
        ),
        # The answer to a background request does not state its usage.
        'background': one_of(False),
        **dict.fromkeys(('max_output_tokens', 'max_tool_calls', 'truncation'), check_scalar),
    }
)


def build_auth_headers(key: str) -> Mapping[str, str]:
    """Return the header that carries the key, as OpenAI's APIs expect it."""
    return {'Authorization': f'Bearer {key}'}


def accepts_call(method: str, path: str) -> bool:
    """Return whether an agent needs this call: a chat completion or a response."""
    return method == 'POST' and path in (_CHAT, _RESPONSES)


def is_model_call(path: str) -> bool:
    """Return whether a model answers this call: a chat completion or a response."""
    return path in (_CHAT, _RESPONSES)


def find_objection(path: str, request: Document) -> str | None:
    """Return why a request is not forwarded; None if all of its fields are allowed.

    A stream of a chat must also ask for its usage.
    """
    if path != _CHAT:
        return _RESPONSES_REQUEST(request, '')
    why = _CHAT_REQUEST(request, '')
    if why is None and request.get('stream') and not _asks_for_usage(request):
        why = 'a stream needs stream_options.include_usage, since coevo counts its tokens'
    return why


def _asks_for_usage(request: Document) -> bool:
    return bool((request.get('stream_options') or {}).get('include_usage'))


def extract_usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """Return the tokens and the model that an answer states; None if it states none.

    In a stream only the last document has counts.
    """
    bodies = [document.get('response') or document for document in answer]
    counted = [document for document in bodies if isinstance(document.get('usage'), dict)]
    if not counted or not counted[-1].get('model'):
        return None
    counts = counted[-1]['usage']
    side = 'prompt' if path == _CHAT else 'input'
    cached = get_token_count_at_path(counts, f'{side}_tokens_details', 'cached_tokens')
    return Usage(
        model=counted[-1]['model'],
        input=get_token_count_at_path(counts, f'{side}_tokens') - cached,
        read=cached,
        output=get_token_count_at_path(
            counts, 'completion_tokens' if path == _CHAT else 'output_tokens'
        ),
    )
