"""OpenAI's APIs, chat completions and responses, which many other endpoints speak.

https://platform.openai.com/docs/api-reference/chat and …/responses
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import number
from coevo.agents.apis.fields import Shape
from coevo.agents.apis.fields import each
from coevo.agents.apis.fields import free
from coevo.agents.apis.fields import inline
from coevo.agents.apis.fields import kinds
from coevo.agents.apis.fields import model
from coevo.agents.apis.fields import one_of
from coevo.agents.apis.fields import plain
from coevo.agents.apis.fields import record
from coevo.agents.apis.fields import texts_of
from coevo.agents.apis.fields import values
from coevo.agents.usage import Usage

ENDPOINT = 'https://api.openai.com'
KEY_VARIABLE = 'OPENAI_API_KEY'

_CHAT, _RESPONSES = '/v1/chat/completions', '/v1/responses'


def _inline_or(other: Shape) -> Shape:
    def shape(value: object, place: str) -> str | None:
        return (inline if isinstance(value, str) else other)(value, place)

    return shape


_CACHED: dict[str, Shape] = {'cache_control': record({'type': plain, 'ttl': plain})}
_FORMAT = record({'type': plain, 'definition': plain, 'syntax': plain, 'grammar': free})
_DECLARED: dict[str, Shape] = {
    'name': plain,
    'description': plain,
    'parameters': free,
    'strict': plain,
}
_FREE_TEXT: dict[str, Shape] = {'name': plain, 'description': plain, 'format': _FORMAT}
_NAMED = record({'name': plain})

# -- chat completions ------------------------------------------------------------------------------

_PART = kinds(
    {
        'text': record({'text': plain, **_CACHED}),
        'refusal': record({'refusal': plain}),
        'image_url': record(
            {'image_url': _inline_or(record({'url': inline, 'detail': plain})), **_CACHED}
        ),
        'input_audio': record({'input_audio': record({'data': plain, 'format': plain})}),
        'file': record({'file': record({'file_data': plain, 'filename': plain}, 'file_data')}),
        'thinking': record({'thinking': plain, 'signature': plain}),
    }
)
_FUNCTION_CALL = record({'name': plain, 'arguments': plain})
_TOOL_CALL = {
    'id': plain,
    'index': plain,
    'function': _FUNCTION_CALL,
    'custom': record({'name': plain, 'input': plain}),
}
_THINKING = record({'type': plain, 'thinking': plain, 'signature': plain, 'data': plain})
_MESSAGE = record(
    {
        'content': texts_of(each(_PART)),
        'tool_calls': each(
            kinds(
                {'function': record(_TOOL_CALL), 'custom': record(_TOOL_CALL)}, record(_TOOL_CALL)
            )
        ),
        'function_call': _FUNCTION_CALL,
        'thinking_blocks': each(_THINKING),
        'reasoning_details': each(values(plain)),
        'annotations': one_of([]),
        'provider_specific_fields': values(plain),
        **dict.fromkeys(
            ('role', 'name', 'tool_call_id', 'refusal', 'reasoning', 'reasoning_content'), plain
        ),
        **_CACHED,
    }
)
_CHAT_TOOL = kinds(
    {
        'function': record({'function': record(_DECLARED), 'strict': plain, **_CACHED}),
        'custom': record({'custom': record(_FREE_TEXT)}),
    }
)
_CHAT_CHOICE = kinds(
    {
        'function': record({'function': _NAMED}),
        'custom': record({'custom': _NAMED}),
        'allowed_tools': record(
            {'allowed_tools': record({'mode': plain, 'tools': each(_CHAT_TOOL)})}
        ),
    }
)
_COMMON: dict[str, Shape] = {
    'model': model,
    'metadata': values(plain),
    'reasoning': record(
        dict.fromkeys(
            ('effort', 'summary', 'generate_summary', 'max_tokens', 'exclude', 'enabled'), plain
        )
    ),
    **dict.fromkeys(
        (
            *('temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'stream', 'store'),
            *('service_tier', 'user', 'safety_identifier'),
            *('prompt_cache_key', 'prompt_cache_retention'),
        ),
        plain,
    ),
}
_CHAT_REQUEST = record(
    {
        **_COMMON,
        'messages': each(_MESSAGE),
        'tools': each(_CHAT_TOOL),
        'tool_choice': texts_of(_CHAT_CHOICE),
        'functions': each(record(_DECLARED)),
        'function_call': texts_of(_NAMED),
        'stop': texts_of(each(plain)),
        'logit_bias': values(plain),
        'modalities': each(one_of('text')),
        'prediction': record({'type': plain, 'content': texts_of(each(_PART))}),
        'response_format': record({'type': plain, 'json_schema': free}),
        'stream_options': record({'include_usage': plain, 'include_obfuscation': plain}),
        'thinking': record({'type': plain, 'budget_tokens': plain}),
        **dict.fromkeys(
            (
                *('max_tokens', 'max_completion_tokens', 'n', 'seed', 'logprobs', 'verbosity'),
                *('frequency_penalty', 'presence_penalty', 'repetition_penalty'),
                *('top_k', 'min_p', 'reasoning_effort', 'include_reasoning'),
            ),
            plain,
        ),
    }
)

# -- responses -------------------------------------------------------------------------------------

_STATED: dict[str, Shape] = {'id': plain, 'status': plain}
_INPUT = kinds(
    {
        'input_text': record({'text': plain}),
        'output_text': record({'text': plain, 'annotations': one_of([]), 'logprobs': free}),
        'refusal': record({'refusal': plain}),
        'input_image': record({'image_url': inline, 'detail': plain}, 'image_url'),
        'input_file': record({'file_data': plain, 'filename': plain, 'detail': plain}, 'file_data'),
    }
)
_SAID = record(
    {'role': plain, 'content': texts_of(each(_INPUT)), 'phase': plain, **_STATED},
    *('role', 'content'),
)
_CALLED: dict[str, Shape] = {'call_id': plain, 'name': plain, **_STATED}
_ANSWERED = record({'call_id': plain, 'output': texts_of(each(_INPUT)), **_STATED}, 'output')
_TEXTS = each(record({'type': plain, 'text': plain}))
_ITEM = kinds(
    {
        'message': _SAID,
        'function_call': record({'arguments': plain, **_CALLED}, 'arguments'),
        'function_call_output': _ANSWERED,
        'custom_tool_call': record({'input': plain, **_CALLED}, 'input'),
        'custom_tool_call_output': _ANSWERED,
        'local_shell_call': record({'action': free, **_CALLED}, 'action'),
        'local_shell_call_output': _ANSWERED,
        'apply_patch_call': record({'operation': free, **_CALLED}, 'operation'),
        'apply_patch_call_output': record({'call_id': plain, 'output': plain, **_STATED}),
        'reasoning': record(
            {'summary': _TEXTS, 'content': _TEXTS, 'encrypted_content': plain, **_STATED}
        ),
        'compaction': record({'encrypted_content': plain, **_STATED}, 'encrypted_content'),
    },
    _SAID,
)
_TOOL = kinds(
    {
        'function': record({**_DECLARED, 'defer_loading': plain}),
        'custom': record({**_FREE_TEXT, 'defer_loading': plain}),
        'local_shell': record({}),
        'apply_patch': record({}),
    }
)
_CHOICE = kinds(
    {
        'function': _NAMED,
        'custom': _NAMED,
        'apply_patch': record({}),
        'allowed_tools': record({'mode': plain, 'tools': each(_TOOL)}),
    }
)
_RESPONSES_REQUEST = record(
    {
        **_COMMON,
        'input': texts_of(each(_ITEM)),
        'instructions': plain,
        'include': each(one_of('reasoning.encrypted_content', 'message.output_text.logprobs')),
        'tools': each(_TOOL),
        'tool_choice': texts_of(_CHOICE),
        'text': record(
            {'format': record({**_DECLARED, 'type': plain, 'schema': free}), 'verbosity': plain}
        ),
        'stream_options': record({'include_obfuscation': plain}),
        'context_management': each(
            record({'type': one_of('compaction'), 'compact_threshold': plain})
        ),
        # What is answered in the background does not say what it cost.
        'background': one_of(False),
        **dict.fromkeys(('max_output_tokens', 'max_tool_calls', 'truncation'), plain),
    }
)


def credentials(key: str) -> Mapping[str, str]:
    return {'Authorization': f'Bearer {key}'}


def serves(method: str, path: str) -> bool:
    return method == 'POST' and path in (_CHAT, _RESPONSES)


def is_round(path: str) -> bool:
    return path in (_CHAT, _RESPONSES)


def objection(path: str, request: Document) -> str | None:
    if path != _CHAT:
        return _RESPONSES_REQUEST(request, '')
    why = _CHAT_REQUEST(request, '')
    if why is None and request.get('stream') and not _tells_usage(request):
        why = 'a stream needs stream_options.include_usage, else nobody knows what it cost'
    return why


def _tells_usage(request: Document) -> bool:
    return bool((request.get('stream_options') or {}).get('include_usage'))


def usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """The last document with counts: of a stream only the last one has any."""
    found = [one.get('response') or one for one in answer]
    counted = [one for one in found if isinstance(one.get('usage'), dict)]
    if not counted or not counted[-1].get('model'):
        return None
    counts = counted[-1]['usage']
    side = 'prompt' if path == _CHAT else 'input'
    cached = number(counts, f'{side}_tokens_details', 'cached_tokens')
    return Usage(
        model=counted[-1]['model'],
        input=number(counts, f'{side}_tokens') - cached,
        read=cached,
        output=number(counts, 'completion_tokens' if path == _CHAT else 'output_tokens'),
    )
