"""Google's Gemini API (https://ai.google.dev/api/generate-content)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Sequence

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import number
from coevo.agents.apis.fields import Shape
from coevo.agents.apis.fields import each
from coevo.agents.apis.fields import free
from coevo.agents.apis.fields import model
from coevo.agents.apis.fields import plain
from coevo.agents.apis.fields import record
from coevo.agents.apis.fields import texts_of
from coevo.agents.apis.fields import values
from coevo.agents.usage import Usage

ENDPOINT = 'https://generativelanguage.googleapis.com'
KEY_VARIABLE = 'GEMINI_API_KEY'

_CALL = re.compile(r'/v1(?:beta)?/models/([\w.-]+):(\w+)', re.ASCII)
_SEPARATED = re.compile('(?<=[A-Za-z0-9])_([a-z0-9])')
_ROUNDS = ('generateContent', 'streamGenerateContent')

_BLOB = record({'mimeType': plain, 'data': plain, 'displayName': plain})
_ANSWER = record(
    {
        'id': plain,
        'name': plain,
        'response': free,
        'parts': each(record({'inlineData': _BLOB})),
        'willContinue': plain,
        'scheduling': plain,
    }
)
_PART = record(
    {
        'text': plain,
        'thought': plain,
        'thoughtSignature': plain,
        'inlineData': _BLOB,
        'functionCall': record({'id': plain, 'name': plain, 'args': free}),
        'functionResponse': _ANSWER,
        'videoMetadata': record({'fps': plain, 'startOffset': plain, 'endOffset': plain}),
        'mediaResolution': texts_of(record({'level': plain, 'numTokens': plain})),
        'partMetadata': free,
    }
)
_CONTENT = record({'role': plain, 'parts': each(_PART)})
_TOOL = record(
    {
        'functionDeclarations': each(
            record(
                {
                    'name': plain,
                    'description': plain,
                    'behavior': plain,
                    'parameters': free,
                    'parametersJsonSchema': free,
                    'response': free,
                    'responseJsonSchema': free,
                }
            )
        )
    }
)
_CALLING = record(
    {'mode': plain, 'allowedFunctionNames': each(plain), 'streamFunctionCallArguments': plain}
)
_GENERATION = record(
    {
        'responseSchema': free,
        'responseJsonSchema': free,
        '_responseJsonSchema': free,
        'stopSequences': each(plain),
        'responseModalities': each(plain),
        'thinkingConfig': record(
            {'includeThoughts': plain, 'thinkingBudget': plain, 'thinkingLevel': plain}
        ),
        **dict.fromkeys(
            (
                *('candidateCount', 'maxOutputTokens', 'temperature', 'topP', 'topK', 'seed'),
                *('presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs'),
                *('responseMimeType', 'mediaResolution', 'audioTimestamp'),
            ),
            plain,
        ),
    }
)
_FIELDS: dict[str, Shape] = {
    'model': model,
    'contents': each(_CONTENT),
    'systemInstruction': texts_of(_CONTENT),
    'tools': each(_TOOL),
    'toolConfig': record({'functionCallingConfig': _CALLING}),
    'safetySettings': each(record({'category': plain, 'threshold': plain, 'method': plain})),
    'generationConfig': _GENERATION,
    'labels': values(plain),
    'serviceTier': plain,
}
_REQUEST = record({**_FIELDS, 'generateContentRequest': record(_FIELDS)})
# What is in here has names of the agent's own.
_OWN_NAMES = (
    *('args', 'response', 'parameters', 'parametersJsonSchema', 'responseJsonSchema'),
    *('responseSchema', '_responseJsonSchema', 'partMetadata', 'labels'),
)


def credentials(key: str) -> Mapping[str, str]:
    return {'x-goog-api-key': key}


def serves(method: str, path: str) -> bool:
    call = _CALL.fullmatch(path)
    return method == 'POST' and call is not None and call[2] in (*_ROUNDS, 'countTokens')


def is_round(path: str) -> bool:
    call = _CALL.fullmatch(path)
    return call is not None and call[2] in _ROUNDS


def objection(path: str, request: Document) -> str | None:
    call = _CALL.fullmatch(path)
    why = model(call[1], 'the path') if call else None
    return why or _REQUEST(_in_camel_case(request), '')


def _in_camel_case(value: object, own: bool = False) -> object:
    """Names as the API gives them: `cached_content` is read as `cachedContent` is."""
    if isinstance(value, list):
        return [_in_camel_case(one, own) for one in value]
    if own or not isinstance(value, dict):
        return value
    found: dict[str, object] = {}
    for name, one in value.items():
        camel = _SEPARATED.sub(lambda match: match[1].upper(), name)
        if camel in found:  # under both names; which of them counts is the endpoint's to say
            return {**found, f'{camel} twice': True}
        found[camel] = _in_camel_case(one, camel in _OWN_NAMES)
    return found


def usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """Each document of a stream has the counts up to it."""
    counted = [one for one in answer if isinstance(one.get('usageMetadata'), dict)]
    if not counted:
        return None
    counts = counted[-1]['usageMetadata']
    call = _CALL.fullmatch(path)
    cached = number(counts, 'cachedContentTokenCount')
    return Usage(
        model=counted[-1].get('modelVersion') or (call[1] if call else ''),
        input=number(counts, 'promptTokenCount')
        + number(counts, 'toolUsePromptTokenCount')
        - cached,
        read=cached,
        output=number(counts, 'candidatesTokenCount') + number(counts, 'thoughtsTokenCount'),
    )
