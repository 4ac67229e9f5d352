"""Google's Gemini API (https://ai.google.dev/api/generate-content)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from coevo.agents.apis.base import (
    Document,
    Shape,
    allow_anything,
    check_model_name,
    check_scalar,
    get_token_count_at_path,
    list_of,
    mapping_of,
    object_of,
    text_or,
)
from coevo.agents.costs import Usage

ENDPOINT = 'https://generativelanguage.googleapis.com'
KEY_VARIABLE = 'GEMINI_API_KEY'

_CALL = re.compile(r'/v1(?:beta)?/models/([\w.-]+):(\w+)', re.ASCII)
_SEPARATED = re.compile('(?<=[A-Za-z0-9])_([a-z0-9])')
_ROUNDS = ('generateContent', 'streamGenerateContent')

_BLOB = object_of({'mimeType': check_scalar, 'data': check_scalar, 'displayName': check_scalar})
_ANSWER = object_of(
    {
        'id': check_scalar,
        'name': check_scalar,
        'response': allow_anything,
        'parts': list_of(object_of({'inlineData': _BLOB})),
        'willContinue': check_scalar,
        'scheduling': check_scalar,
    }
)
_PART = object_of(
    {
        'text': check_scalar,
        'thought': check_scalar,
        'thoughtSignature': check_scalar,
        'inlineData': _BLOB,
        'functionCall': object_of(
            {'id': check_scalar, 'name': check_scalar, 'args': allow_anything}
        ),
        'functionResponse': _ANSWER,
        'videoMetadata': object_of(
            {'fps': check_scalar, 'startOffset': check_scalar, 'endOffset': check_scalar}
        ),
        'mediaResolution': text_or(object_of({'level': check_scalar, 'numTokens': check_scalar})),
        'partMetadata': allow_anything,
    }
)
_CONTENT = object_of({'role': check_scalar, 'parts': list_of(_PART)})
_TOOL = object_of(
    {
        'functionDeclarations': list_of(
            object_of(
                {
                    'name': check_scalar,
                    'description': check_scalar,
                    'behavior': check_scalar,
                    'parameters': allow_anything,
                    'parametersJsonSchema': allow_anything,
                    'response': allow_anything,
                    'responseJsonSchema': allow_anything,
                }
            )
        )
    }
)
_CALLING = object_of(
    {
        'mode': check_scalar,
        'allowedFunctionNames': list_of(check_scalar),
        'streamFunctionCallArguments': check_scalar,
    }
)
_GENERATION = object_of(
    {
        'responseSchema': allow_anything,
        'responseJsonSchema': allow_anything,
        '_responseJsonSchema': allow_anything,
        'stopSequences': list_of(check_scalar),
        'responseModalities': list_of(check_scalar),
        'thinkingConfig': object_of(
            {
                'includeThoughts': check_scalar,
                'thinkingBudget': check_scalar,
                'thinkingLevel': check_scalar,
            }
        ),
        **dict.fromkeys(
            (
                *('candidateCount', 'maxOutputTokens', 'temperature', 'topP', 'topK', 'seed'),
                *('presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs'),
                *('responseMimeType', 'mediaResolution', 'audioTimestamp'),
            ),
            check_scalar,
        ),
    }
)
_FIELDS: dict[str, Shape] = {
    'model': check_model_name,
    'contents': list_of(_CONTENT),
    'systemInstruction': text_or(_CONTENT),
    'tools': list_of(_TOOL),
    'toolConfig': object_of({'functionCallingConfig': _CALLING}),
    'safetySettings': list_of(
        object_of({'category': check_scalar, 'threshold': check_scalar, 'method': check_scalar})
    ),
    'generationConfig': _GENERATION,
    'labels': mapping_of(check_scalar),
    'serviceTier': check_scalar,
}
_REQUEST = object_of({**_FIELDS, 'generateContentRequest': object_of(_FIELDS)})
# Objects in these fields have names that the agent chooses, so they are not converted to camel
# case.
_OWN_NAMES = (
    *('args', 'response', 'parameters', 'parametersJsonSchema', 'responseJsonSchema'),
    *('responseSchema', '_responseJsonSchema', 'partMetadata', 'labels'),
)


def build_auth_headers(key: str) -> Mapping[str, str]:
    """Return the header that carries the key, as Google's API expects it."""
    return {'x-goog-api-key': key}


def accepts_call(method: str, path: str) -> bool:
    """Return whether an agent needs this call: content, streamed or not, or a count of tokens."""
    call = _CALL.fullmatch(path)
    return method == 'POST' and call is not None and call[2] in (*_ROUNDS, 'countTokens')


def is_model_call(path: str) -> bool:
    """Return whether a model answers this call; false for a count of tokens."""
    call = _CALL.fullmatch(path)
    return call is not None and call[2] in _ROUNDS


def find_objection(path: str, request: Document) -> str | None:
    """Return why a request is not forwarded; None if all of its fields are allowed.

    The model's name in the path is checked, too.
    """
    call = _CALL.fullmatch(path)
    why = check_model_name(call[1], 'the path') if call else None
    return why or _REQUEST(_convert_to_camel_case(request), '')


def _convert_to_camel_case(value: object, keeps_names: bool = False) -> object:
    """Return a value with all names in camel case.

    The API reads `cached_content` as `cachedContent`. If two names become equal, the object gets a
    field that no shape knows, so that it is refused.
    own  whether its names are chosen by the agent, so that they stay as they are
    """
    if isinstance(value, list):
        return [_convert_to_camel_case(item, keeps_names) for item in value]
    if keeps_names or not isinstance(value, dict):
        return value
    converted: dict[str, object] = {}
    for name, item in value.items():
        camel = _SEPARATED.sub(lambda match: match[1].upper(), name)
        # The endpoint would choose one of the two values, so the request is made invalid.
        if camel in converted:
            return {**converted, f'{camel} twice': True}
        converted[camel] = _convert_to_camel_case(item, camel in _OWN_NAMES)
    return converted


def extract_usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """Return the tokens and the model that an answer states; None if it states none.

    Each document of a stream has the counts up to it, so the last one counts.
    """
    counted = [document for document in answer if isinstance(document.get('usageMetadata'), dict)]
    if not counted:
        return None
    counts = counted[-1]['usageMetadata']
    call = _CALL.fullmatch(path)
    cached = get_token_count_at_path(counts, 'cachedContentTokenCount')
    return Usage(
        model=counted[-1].get('modelVersion') or (call[1] if call else ''),
        input=get_token_count_at_path(counts, 'promptTokenCount')
        + get_token_count_at_path(counts, 'toolUsePromptTokenCount')
        - cached,
        read=cached,
        output=get_token_count_at_path(counts, 'candidatesTokenCount')
        + get_token_count_at_path(counts, 'thoughtsTokenCount'),
    )
