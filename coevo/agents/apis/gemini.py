"""Google's Gemini API (https://ai.google.dev/api/generate-content)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Sequence

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import dicts
from coevo.agents.apis.base import number
from coevo.agents.apis.base import tools
from coevo.agents.usage import Usage

ENDPOINT = 'https://generativelanguage.googleapis.com'
KEY_VARIABLE = 'GEMINI_API_KEY'

_CALL = re.compile(r'/v1(?:beta)?/models/([\w.-]+):(\w+)')
_ROUNDS = ('generateContent', 'streamGenerateContent')

# All other kinds (search, URL context, code execution, maps) run at the endpoint.
_OWN_TOOLS = {'functionDeclarations', 'function_declarations'}


def credentials(key: str) -> Mapping[str, str]:
    return {'x-goog-api-key': key}


def serves(method: str, path: str) -> bool:
    call = _CALL.fullmatch(path)
    return method == 'POST' and call is not None and call[2] in (*_ROUNDS, 'countTokens')


def is_round(path: str) -> bool:
    call = _CALL.fullmatch(path)
    return call is not None and call[2] in _ROUNDS


def objection(path: str, request: Document) -> str | None:
    for tool in tools(request):
        others = tool.keys() - _OWN_TOOLS
        if others:
            return f'the tool {min(others)} runs at the endpoint'
    for one in dicts(request.get('contents')):
        if 'fileData' in one or 'file_data' in one:
            return 'a file by URI is fetched by the endpoint'
    return None


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
