"""Anthropic's Messages API (https://docs.claude.com/en/api/messages)."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import dicts
from coevo.agents.apis.base import number
from coevo.agents.apis.base import tools
from coevo.agents.usage import Usage

ENDPOINT = 'https://api.anthropic.com'
KEY_VARIABLE = 'ANTHROPIC_API_KEY'

_MESSAGES, _COUNT = '/v1/messages', '/v1/messages/count_tokens'

# Tools that the agent carries out itself; all other types run at the endpoint, which has a network.
_OWN_TOOLS = ('bash_', 'text_editor_', 'memory_', 'computer_', 'tool_search_tool_')


def credentials(key: str) -> Mapping[str, str]:
    return {'x-api-key': key}


def serves(method: str, path: str) -> bool:
    return method == 'POST' and path in (_MESSAGES, _COUNT)


def is_round(path: str) -> bool:
    return path == _MESSAGES


def objection(path: str, request: Document) -> str | None:
    for tool in tools(request):
        kind = str(tool.get('type') or 'custom')
        if kind != 'custom' and not kind.startswith(_OWN_TOOLS):
            return f'the tool {kind} runs at the endpoint'
    if request.get('mcp_servers'):
        return 'mcp_servers are reached by the endpoint'
    if any(
        isinstance(one.get('source'), dict) and one['source'].get('type') in ('url', 'file')
        for one in dicts(request.get('messages'))
    ):
        return 'a source by URL is fetched by the endpoint'
    return None


def usage(path: str, answer: Sequence[Document]) -> Usage | None:
    """A stream's later events repeat or complete the counts of its first."""
    counts: dict[str, object] = {}
    model: str | None = None
    for document in answer:
        message = document.get('message') if document.get('type') == 'message_start' else document
        if isinstance(message, dict):
            model = message.get('model') or model
            counts |= {k: v for k, v in (message.get('usage') or {}).items() if v is not None}
    if model is None or not counts:
        return None
    written = number(counts, 'cache_creation_input_tokens')
    long = number(counts, 'cache_creation', 'ephemeral_1h_input_tokens')
    return Usage(
        model=model,
        input=number(counts, 'input_tokens'),
        read=number(counts, 'cache_read_input_tokens'),
        written=max(written - long, 0),
        written_long=long,
        output=number(counts, 'output_tokens'),
    )
