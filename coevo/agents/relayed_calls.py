"""An agent's calls: what is passed on to the endpoint, and what is refused."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
from typing import Any
from typing import Protocol
from urllib.parse import parse_qsl
from urllib.parse import urlencode

import urllib3

from coevo.agents.apis.base import Document
from coevo.agents.apis.base import documents
from coevo.agents.endpoint import Endpoint
from coevo.agents.meter import Meter
from coevo.model.errors import Fatal

_REQUEST_BYTES = 64 << 20
_METERED_BYTES = 64 << 20
_LENGTH = '[0-9]{1,12}'
_BLOCK = 1 << 16
# Of the agent, and of the endpoint.
IDLE_SECONDS = 600.0
_BACKLOG = 64

_QUERIES = (('alt', 'sse'), ('beta', 'true'))
_PASSED_BACK = ('content-type', 'request-id', 'retry-after', 'x-should-retry')


class RelayedAttempt(Protocol):
    """Whose calls they are: where they go, what they may cost, and what is noted of them."""

    endpoint: Endpoint
    meter: Meter
    stop: Callable[[], None]
    cut_off: bool

    def under_way(self) -> AbstractContextManager[None]: ...

    def open(self, target: str, body: Document, headers: Message) -> urllib3.BaseHTTPResponse: ...

    def note_refusal(self, why: str) -> None: ...

    def note_trouble(self, why: str) -> None: ...

    def give_up(self, error: Exception) -> None: ...


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, relay: RelayedAttempt, listening: socket.socket) -> None:
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
    timeout = IDLE_SECONDS
    server: Server

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
        """What of the query an endpoint needs: no key of the agent's own, and no more than that."""
        pairs = parse_qsl(self.path.partition('?')[2], keep_blank_values=True)
        kept = [pair for pair in pairs if pair in _QUERIES]
        return f'?{urlencode(kept)}' if kept else ''

    def _pass_back(self, path: str, answer: urllib3.BaseHTTPResponse) -> None:
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


def _denied(endpoint: Endpoint, status: int) -> Fatal:
    return Fatal(
        f'{endpoint.url} denies access (status {status}): check the key, then run the same '
        'command again'
    )
