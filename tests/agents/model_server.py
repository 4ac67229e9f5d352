"""A scripted stand-in for the APIs of models, on loopback: a turn of the script for each round."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = 'sk-not-for-agents'

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the model says in a round: text, or one call of a tool; and what that used."""

    text: str = 'Done.'
    tool: str | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
    input: int = 1000
    output: int = 100


Script = Callable[[Json], Sequence[Turn]]
"""The turns for a request's conversation, from all that the request says."""


@dataclass
class ModelServer:
    """requests: (path with query, headers, body) of every call; status: an answer to all calls; key: None lets
    anybody in; refuses: whether a request is answered 400; states_usage: whether answers of OpenAI's form say what they used"""

    url: str
    script: Script
    requests: list[tuple[str, dict[str, str], Json]] = field(default_factory=list)
    status: int = 200
    key: str | None = KEY
    states_usage: bool = True
    refuses: Callable[[Json], bool] = lambda request: False
    fails: int = 0  # so many calls are answered 529 first
    reason: str = 'it is too long'  # of those that are refused

    def rounds(self) -> int:
        return len(self.requests)


@contextmanager
def serving(script: Script) -> Iterator[ModelServer]:
    """A server that knows one key, `KEY`."""
    server = _Server(('127.0.0.1', 0), _Handler)
    found = ModelServer(f'http://127.0.0.1:{server.server_address[1]}', script)
    server.model = found  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has read enough may reset its connection; all else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self) -> None:
        model: ModelServer = self.server.model  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        model.requests.append((self.path, dict(self.headers.items()), body))
        keys = (
            self.headers.get('x-api-key'),
            self.headers.get('x-goog-api-key'),
            self.headers.get('Authorization', '').removeprefix('Bearer '),
        )
        if model.key is not None and model.key not in keys:
            return self._send(401, 'application/json', json.dumps({'error': {'message': KEY}}))
        if model.refuses(body):
            content = json.dumps({'error': {'message': model.reason}}).replace('/', r'\/')
            return self._send(400, 'application/json', content)
        if model.fails:
            model.fails -= 1
            return self._send(529, 'application/json', '{}')
        if model.status != 200:
            return self._send(model.status, 'application/json', '{"error": {"message": "no"}}')
        path = self.path.partition('?')[0]
        if path.endswith((':countTokens', '/count_tokens')):
            return self._send(200, 'application/json', '{"input_tokens": 9, "totalTokens": 9}')
        turns = model.script(body)
        turn = turns[min(_said(body), len(turns) - 1)]
        kind, content = _answer(path, body, turn, len(model.requests))
        if not model.states_usage:
            said = json.loads(content)
            content = json.dumps({name: said[name] for name in said if name != 'usage'})
        return self._send(200, kind, content)

    def _send(self, status: int, kind: str, content: str) -> None:
        data = content.encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(data)))
        if status >= 500:
            self.send_header('Retry-After', '0')
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


def _said(body: Json) -> int:
    """How many turns of the model a conversation has already."""
    messages = body.get('messages') or body.get('contents') or ()
    return sum(one.get('role') in ('assistant', 'model') for one in messages)


def _answer(path: str, body: Json, turn: Turn, number: int) -> tuple[str, str]:
    """Agents take messages and calls with the same id for the same: `number` tells them apart."""
    if path.startswith('/v1beta/'):
        return _gemini(path, turn)
    if path == '/v1/messages':
        return _anthropic(body, turn, number)
    return _openai(body, turn, number)


def _events(events: Sequence[Json], *, named: bool) -> tuple[str, str]:
    parts = []
    for event in events:
        name = f'event: {event["type"]}\n' if named else ''
        parts.append(f'{name}data: {json.dumps(event)}\n\n')
    return 'text/event-stream', ''.join(parts)


def _anthropic(body: Json, turn: Turn, number: int) -> tuple[str, str]:
    block: Json = {'type': 'text', 'text': turn.text}
    if turn.tool:
        block = {
            'type': 'tool_use',
            'id': f'toolu_{number}',
            'name': turn.tool,
            'input': turn.arguments,
        }
    usage = {'input_tokens': turn.input, 'output_tokens': turn.output}
    message = {
        'id': f'msg_{number}',
        'type': 'message',
        'role': 'assistant',
        'model': body['model'],
        'content': [block],
        'stop_reason': 'tool_use' if turn.tool else 'end_turn',
        'stop_sequence': None,
        'usage': usage,
    }
    if not body.get('stream'):
        return 'application/json', json.dumps(message)
    empty = {**block, 'input': {}} if turn.tool else {**block, 'text': ''}
    delta = (
        {'type': 'input_json_delta', 'partial_json': json.dumps(turn.arguments)}
        if turn.tool
        else {'type': 'text_delta', 'text': turn.text}
    )
    start = {**message, 'content': [], 'stop_reason': None, 'usage': {**usage, 'output_tokens': 1}}
    stopped = {'stop_reason': message['stop_reason'], 'stop_sequence': None}
    return _events(
        [
            {'type': 'message_start', 'message': start},
            {'type': 'content_block_start', 'index': 0, 'content_block': empty},
            {'type': 'content_block_delta', 'index': 0, 'delta': delta},
            {'type': 'content_block_stop', 'index': 0},
            {
                'type': 'message_delta',
                'delta': stopped,
                'usage': {'output_tokens': turn.output},
            },
            {'type': 'message_stop'},
        ],
        named=True,
    )


def _gemini(path: str, turn: Turn) -> tuple[str, str]:
    part: Json = {'text': turn.text}
    if turn.tool:
        part = {'functionCall': {'name': turn.tool, 'args': turn.arguments}}
    answer = {
        'candidates': [
            {'content': {'role': 'model', 'parts': [part]}, 'finishReason': 'STOP', 'index': 0}
        ],
        'usageMetadata': {
            'promptTokenCount': turn.input,
            'candidatesTokenCount': turn.output,
            'totalTokenCount': turn.input + turn.output,
        },
        'modelVersion': path.rpartition('/')[2].partition(':')[0],
    }
    if ':stream' in path:
        return _events([answer], named=False)
    return 'application/json', json.dumps(answer)


def _openai(body: Json, turn: Turn, number: int) -> tuple[str, str]:
    message: Json = {'role': 'assistant', 'content': turn.text}
    if turn.tool:
        called = {'name': turn.tool, 'arguments': json.dumps(turn.arguments)}
        message['tool_calls'] = [{'id': f'call_{number}', 'type': 'function', 'function': called}]
    reason = 'tool_calls' if turn.tool else 'stop'
    usage = {
        'prompt_tokens': turn.input,
        'completion_tokens': turn.output,
        'total_tokens': turn.input + turn.output,
    }
    answer = {
        'id': f'chatcmpl-{number}',
        'object': 'chat.completion',
        'created': 0,
        'model': body['model'],
        'choices': [{'index': 0, 'message': message, 'finish_reason': reason}],
        'usage': usage,
    }
    return 'application/json', json.dumps(answer)
