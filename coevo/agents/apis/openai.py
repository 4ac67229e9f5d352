"""OpenAI's APIs, chat completions and responses, which many other endpoints speak.

https://platform.openai.com/docs/api-reference/chat and …/responses
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import dicts
from coevo.agents.apis.base import number
from coevo.agents.apis.base import tools
from coevo.agents.usage import Usage

ENDPOINT = 'https://api.openai.com'
KEY_VARIABLE = 'OPENAI_API_KEY'

_CHAT, _RESPONSES = '/v1/chat/completions', '/v1/responses'

# Tools that the agent carries out itself; all other types run at the endpoint.
_OWN_TOOLS = ('function', 'custom', 'local_shell', 'apply_patch')


def credentials(key: str) -> Mapping[str, str]:
    return {'Authorization': f'Bearer {key}'}


def serves(method: str, path: str) -> bool:
    return method == 'POST' and path in (_CHAT, _RESPONSES)


def is_round(path: str) -> bool:
    return path in (_CHAT, _RESPONSES)


def objection(path: str, request: Document) -> str | None:
    for tool in tools(request):
        if tool.get('type') not in _OWN_TOOLS:
            return f'the tool {tool.get("type")} runs at the endpoint'
    for name in ('web_search_options', 'plugins'):
        if request.get(name) is not None:
            return f'{name} let the endpoint search'
    model = str(request.get('model') or '')
    if 'search' in model or model.endswith(':online'):
        return f'the model {model} searches by itself'
    if request.get('background'):
        return 'what is answered in the background does not say what it cost'
    for one in dicts([request.get('messages'), request.get('input')]):
        place = one.get('image_url') or one.get('file_url')
        url = place.get('url') if isinstance(place, dict) else place
        if isinstance(url, str) and not url.startswith('data:'):
            return 'a source by URL is fetched by the endpoint'
    options = request.get('stream_options')
    told = isinstance(options, dict) and options.get('include_usage')
    if path == _CHAT and request.get('stream') and not told:
        return 'a stream needs stream_options.include_usage, else nobody knows what it cost'
    return None


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
