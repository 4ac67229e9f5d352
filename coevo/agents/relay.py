"""Leads an agent's calls out of the sandbox to one endpoint, and adds the key on the way.

It is the only network that an agent has. It passes on what the endpoint's API needs for a round and
nothing else: no other call, no tool that runs at the endpoint and could look up the answer there.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl
from urllib.parse import urlencode

import urllib3

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import documents
from coevo.agents.endpoint import Endpoint
from coevo.agents.meter import Meter
from coevo.errors import Fatal

_REQUEST_BYTES = 64 << 20
_METERED_BYTES = 64 << 20
_LENGTH = '[0-9]{1,12}'
_BLOCK = 1 << 16
_IDLE_SECONDS = 600.0
_CONNECT_SECONDS = 30.0
_BACKLOG = 64
_SETTLE_SECONDS = 60.0
_SAID, _MOST_REFUSALS = 200, 100

# What an agent may say beside its request; keys of its own are not among it.
_PASSED_ON = ('accept', 'anthropic-version', 'anthropic-beta', 'openai-beta', 'user-agent')
_PASSED_BACK = ('content-type', 'request-id', 'retry-after', 'x-should-retry')


class Relay:
    """Serves one attempt; safe from several threads.

    refused   why calls were not passed on, each once, in the order of their first
    trouble   calls that the endpoint did not answer, or answered with a fault of its own
    cut_off   whether the last call that ended was one of these
    bug       what ended the relay's work: the attempt raises it
    """

    def __init__(self, endpoint: Endpoint, meter: Meter, stop: Callable[[], None]) -> None:
        """`stop` is called when no further round is allowed, or when `bug` is set."""
        self.endpoint, self.meter, self.stop = endpoint, meter, stop
        self.refused: list[str] = []
        self.trouble: list[str] = []
        self.cut_off = False
        self.bug: Exception | None = None
        self._settled = threading.Condition()
        self._calls = 0
        self._pool = urllib3.PoolManager(
            retries=False, timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=_IDLE_SECONDS)
        )

    @contextmanager
    def serving(self, listening: socket.socket) -> Iterator[None]:
        """Serve on a socket, which is closed in the end."""
        server = _Server(self, listening)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            self._settle()
            self._pool.clear()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """A call that is passed on: `serving` waits for what it cost."""
        with self._settled:
            self._calls += 1
        try:
            yield
        finally:
            with self._settled:
                self._calls -= 1
                self._settled.notify_all()

    def _settle(self) -> None:
        with self._settled:
            if not self._settled.wait_for(lambda: not self._calls, _SETTLE_SECONDS):
                self.meter.unmetered += self._calls

    def open(self, target: str, body: Document, headers: Message) -> _Opened:
        """Pass a request on; urllib3.exceptions.HTTPError if the endpoint cannot be reached."""
        return self._pool.request(
            'POST',
            self.endpoint.url + target,
            body=json.dumps(body).encode(),
            headers={
                **{name: text for name in _PASSED_ON if _is_plain(text := headers.get(name, ''))},
                **self.endpoint.speaks.credentials(self.endpoint.key),
                'Content-Type': 'application/json',
                'Accept-Encoding': 'identity',  # what is metered is read
            },
            preload_content=False,
            redirect=False,
        )

    def note_refusal(self, why: str) -> None:
        """Once each, and no more than anyone would read: an agent may say what it likes."""
        if why[:_SAID] not in self.refused and len(self.refused) < _MOST_REFUSALS:
            self.refused.append(why[:_SAID])

    def note_trouble(self, why: str) -> None:
        self.trouble.append(why)
        self.cut_off = True

    def give_up(self, error: Exception) -> None:
        self.bug = self.bug or error
        self.stop()


_Opened = urllib3.BaseHTTPResponse


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, relay: Relay, listening: socket.socket) -> None:
        self.relay = relay
        super().__init__(('127.0.0.1', 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        listening.listen(_BACKLOG)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of ours; all else ends the attempt."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, (ConnectionError, TimeoutError)):
            self.relay.give_up(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version = 'coevo'
    sys_version = ''
    timeout = _IDLE_SECONDS
    server: _Server

    def do_POST(self) -> None:
        relay, api = self.server.relay, self.server.relay.endpoint.speaks
        path = self.path.partition('?')[0]
        body = self._body()
        if body is None:
            return None
        if not api.serves(self.command, path):
            return self._refuse(HTTPStatus.NOT_FOUND, f'{self.command} {path} is not relayed')
        try:
            objection = api.objection(path, body)
        except RecursionError:
            objection = 'it is nested too deeply to be checked'
        if objection is not None:
            return self._refuse(HTTPStatus.FORBIDDEN, objection)
        if api.is_round(path) and relay.meter.is_spent:
            relay.stop()
            return self._refuse(HTTPStatus.FORBIDDEN, 'the cost cap is reached')
        with relay.under_way():
            return self._relay(path, body)

    def do_GET(self) -> None:
        path = self.path.partition('?')[0]
        self._refuse(HTTPStatus.NOT_FOUND, f'{self.command} {path} is not relayed')

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = do_GET

    def _body(self) -> Document | None:
        """The request's JSON object; None if it was answered that there is none."""
        length = self.headers.get('Content-Length', '')
        if not re.fullmatch(_LENGTH, length) or int(length) > _REQUEST_BYTES:
            self._refuse(HTTPStatus.BAD_REQUEST, 'a request needs a Content-Length within bounds')
            return None
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, 'a request is one JSON object')
            return None
        return body

    def _relay(self, path: str, body: Document) -> None:
        relay = self.server.relay
        try:
            answer = relay.open(path + self._query(), body, self.headers)
        except urllib3.exceptions.HTTPError as error:
            relay.note_trouble(type(error).__name__)
            return self._answer(HTTPStatus.BAD_GATEWAY, 'the endpoint cannot be reached')
        try:
            if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                # Its words are not passed on: some repeat the key.
                relay.give_up(_denied(relay.endpoint, answer.status))
                return self._answer(HTTPStatus.FORBIDDEN, 'the endpoint denies access')
            if answer.status >= 500 or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                relay.note_trouble(f'status {answer.status}')
            else:
                relay.cut_off = False
            return self._pass_back(path, answer)
        finally:
            answer.close()

    def _query(self) -> str:
        """The query without a key of the agent's own."""
        pairs = parse_qsl(self.path.partition('?')[2], keep_blank_values=True)
        kept = [(name, value) for name, value in pairs if name != 'key']
        return f'?{urlencode(kept)}' if kept else ''

    def _pass_back(self, path: str, answer: _Opened) -> None:
        """Pass an answer back as it comes, and count it when it is whole or broken off.

        It is read to its end even if nobody wants it any more: that is where it says what it cost.
        """
        relay = self.server.relay
        counts = answer.status == HTTPStatus.OK and relay.endpoint.speaks.is_round(path)
        kept, whole = bytearray(), True
        self.send_response(answer.status)
        for name in _PASSED_BACK:
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        try:
            for block in answer.stream(_BLOCK, decode_content=False):
                if len(kept) < _METERED_BYTES:
                    kept += block
                whole = whole and self._send(b'%x\r\n%b\r\n' % (len(block), block))
        except urllib3.exceptions.HTTPError as error:
            relay.note_trouble(type(error).__name__)
            whole = False
            self.close_connection = True
        finally:
            if counts:
                self._count(path, answer.headers.get('content-type', ''), bytes(kept))
        if whole:
            self._send(b'0\r\n\r\n')

    def _send(self, data: bytes) -> bool:
        """Whether the agent is still there to be sent something."""
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except (ConnectionError, TimeoutError):
            self.close_connection = True
            return False
        return True

    def _count(self, path: str, kind: str, content: bytes) -> None:
        relay = self.server.relay
        try:
            relay.meter.note(relay.endpoint.speaks.usage(path, documents(kind, content)))
        except Fatal as error:
            relay.give_up(error)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.server.relay.note_refusal(why)
        self.close_connection = True  # what is left of the request is not read
        self._answer(status, why)

    def _answer(self, status: HTTPStatus, why: str) -> None:
        """An error in the words that all three APIs use."""
        told = {'type': 'coevo_relay', 'code': int(status), 'message': f'coevo: {why}'}
        content = json.dumps({'type': 'error', 'error': told}).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: rounds are counted, and what is refused is kept."""


def _is_plain(text: str) -> bool:
    """Whether it is a header that may be sent on."""
    return bool(text) and text.isascii() and text.isprintable()


def _denied(endpoint: Endpoint, status: int) -> Fatal:
    return Fatal(
        f'{endpoint.url} denies access (status {status}): check the key, then run the same '
        'command again'
    )
