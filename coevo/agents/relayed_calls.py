"""The HTTP server of the relay: it decides which calls are forwarded and which are refused."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from email.message import Message
from http import HTTPStatus
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode

from coevo.agents.apis.base import parse_usage_documents
from coevo.agents.costs import Meter
from coevo.agents.endpoint import Endpoint
from coevo.agents.keeping import AnswerLog
from coevo.agents.one_shot import extract_explanation
from coevo.agents.records import Rejection
from coevo.display.terminal import escape_controls
from coevo.model.errors import Fatal
from coevo.storage.bounded_http import HttpAnswer, ServerUnreachable
from coevo.storage.bounded_reading import (
    ContentTooLarge,
    ContentTooSlow,
    UnreadableContent,
    parse_json,
    read_exactly,
)

_LENGTH = '[0-9]{1,12}'
# Seconds without data from the agent or from the endpoint.
IDLE_SECONDS = 600.0
_BACKLOG = 64

_TURNED_AWAY = b'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'

# Most bytes of an error that are read for its reason.
_MOST_EXPLAINED = 16_000

_QUERIES = (('alt', 'sse'), ('beta', 'true'))
_BUSY = 'too many calls are open at once; try again when a call has ended'

# Parsing takes many times the memory of the text, so all relays of the process parse one at a time.
_PARSING = threading.Lock()

_PASSED_BACK = ('content-type', 'request-id', 'retry-after', 'x-should-retry')


class RelayedAttempt(Protocol):
    """An attempt for which calls are forwarded.

    endpoint  where calls are forwarded to
    meter     counts the rounds
    log       keeps requests to the model and its answers, if anything does
    stop      called when no further round is allowed
    requests  memory for requests
    answers   memory for answers
    """

    endpoint: Endpoint
    meter: Meter
    log: AnswerLog | None
    stop: Callable[[], None]
    requests: Allowance
    answers: Allowance

    def track_call(self) -> AbstractContextManager[None]:
        """Mark a call as in progress while entered."""

    def forward_request(
        self, target: str, body: bytes, headers: Message
    ) -> AbstractContextManager[HttpAnswer]:
        """Return a context that sends a request to the endpoint and provides the answer."""

    def note_refusal(self, why: str) -> None:
        """Record why a call was refused."""

    def note_trouble(self, why: str) -> None:
        """Record a failure of the endpoint, and set `cut_off`."""

    def note_answered(self, rejection: Rejection | None = None) -> None:
        """Record that the endpoint has answered a call, and whether it refused it."""

    def give_up(self, error: Exception) -> None:
        """Record an error of the relay, and stop the attempt."""


class _AnswerCutOff(Exception):
    """An answer of the endpoint was cut off; the message says why."""


class RelayServer(ThreadingHTTPServer):
    """The server of one relay, with a thread for each connection."""

    daemon_threads = True

    def __init__(self, relay: RelayedAttempt, listening: socket.socket) -> None:
        self.relay = relay
        super().__init__(('127.0.0.1', 0), _RelayHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self._slots = threading.BoundedSemaphore(CONNECTIONS)
        listening.listen(_BACKLOG)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, or answer 503 if too many are open."""
        if not self._slots.acquire(blocking=False):
            self.relay.note_refusal(f'{CONNECTIONS} connections are open')
            with contextlib.suppress(OSError):
                request.sendall(_TURNED_AWAY)
            return self.shutdown_request(request)
        try:
            return super().process_request(request, client_address)
        except BaseException:  # no thread could be started
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, then free its slot."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """End the attempt with the error, unless it only means that the client has disconnected."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, (ConnectionError, TimeoutError)):
            self.relay.give_up(error)


class _RelayHandler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version = 'coevo'
    sys_version = ''
    timeout = IDLE_SECONDS
    server: RelayServer

    def setup(self) -> None:
        """Put a limit on the heads of requests."""
        super().setup()
        self._head = HeadReader(self.rfile)
        self.rfile = self._head  # type: ignore[assignment]

    def handle_one_request(self) -> None:
        """Serve the next request of the connection."""
        self._head.begin_request()
        super().handle_one_request()

    def do_POST(self) -> None:
        """Forward a call.

        Whatever its head shows to be invalid is refused before the body is read.
        """
        relay, api = self.server.relay, self.server.relay.endpoint.model_api
        path = self.path.partition('?')[0]
        if not api.accepts_call(self.command, path):
            return self._refuse(
                HTTPStatus.NOT_FOUND, f'{self.command} {path} is not forwarded to the endpoint'
            )
        length = self.headers.get('Content-Length', '')
        if not re.fullmatch(_LENGTH, length):
            return self._refuse(HTTPStatus.BAD_REQUEST, 'a request needs a Content-Length')
        if int(length) > REQUEST_BYTES:
            why = f'a request has at most {REQUEST_BYTES} bytes'
            return self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        if api.is_model_call(path) and relay.meter.is_spent:
            relay.stop()
            return self._refuse(HTTPStatus.FORBIDDEN, 'the cost cap is reached')
        with (
            relay.track_call(),
            contextlib.ExitStack() as answer_stack,
            contextlib.ExitStack() as request_stack,
        ):
            if not request_stack.enter_context(relay.requests.borrow(int(length))):
                return self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY)
            answer = self._ask_endpoint(path, int(length), answer_stack)
            request_stack.close()
            return None if answer is None else self._relay_answer(path, answer)

    def do_GET(self) -> None:
        """Refuse all methods but POST."""
        path = self.path.partition('?')[0]
        self._refuse(
            HTTPStatus.NOT_FOUND, f'{self.command} {path} is not forwarded to the endpoint'
        )

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = do_GET

    def _ask_endpoint(
        self, path: str, length: int, answer_stack: contextlib.ExitStack
    ) -> HttpAnswer | None:
        """Return the endpoint's answer, open until the stack is closed.

        None if the agent has been sent an error instead.
        """
        relay = self.server.relay
        content = self._read_checked_request(path, length)
        if content is None:
            return None
        self._log('asked', content)
        try:
            target = path + self._keep_allowed_query()
            return answer_stack.enter_context(relay.forward_request(target, content, self.headers))
        except (ServerUnreachable, ContentTooSlow) as error:
            relay.note_trouble(_describe_trouble(error))
            self._send_error(HTTPStatus.BAD_GATEWAY, 'the endpoint cannot be reached')
            return None

    def _read_checked_request(self, path: str, length: int) -> bytes | None:
        """Return the request as it is forwarded; None if the agent has been sent an error instead.

        The body is serialised again, so that exactly what was checked is forwarded.
        """
        api = self.server.relay.endpoint.model_api
        try:
            content = read_exactly(self._head.stream, length, seconds=REQUEST_SECONDS)
            with _PARSING:
                body = parse_json(content, most_values=REQUEST_VALUES)
                if not isinstance(body, dict):
                    raise UnreadableContent('is no object')
                objection = api.find_objection(path, body)
                if objection is None:
                    return json.dumps(body).encode()
        except ContentTooLarge as error:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f'the request {error}')
        except ContentTooSlow as error:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, f'the request {error}')
        except UnreadableContent:
            self._refuse(HTTPStatus.BAD_REQUEST, 'a request is one JSON object')
        except RecursionError:
            self._refuse(HTTPStatus.FORBIDDEN, 'the request is nested too deeply to be checked')
        else:
            self._refuse(HTTPStatus.FORBIDDEN, objection)
        return None

    def _relay_answer(self, path: str, answer: HttpAnswer) -> None:
        relay = self.server.relay
        if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            # The endpoint's message is not passed back, since it may contain the key.
            relay.give_up(_make_denial_error(relay.endpoint, answer.status))
            return self._send_error(HTTPStatus.FORBIDDEN, 'the endpoint denies access')
        if answer.status >= 500 or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            relay.note_trouble(f'HTTP {answer.status}')
        else:
            relay.note_answered()
        return self._stream_answer(path, answer)

    def _keep_allowed_query(self) -> str:
        """Return the allowed parameters of the query after a `?`; empty if there are none.

        Other parameters, such as an agent's key, are cut.
        """
        pairs = parse_qsl(self.path.partition('?')[2], keep_blank_values=True)
        allowed_pairs = [pair for pair in pairs if pair in _QUERIES]
        return f'?{urlencode(allowed_pairs)}' if allowed_pairs else ''

    def _stream_answer(self, path: str, answer: HttpAnswer) -> None:
        """Pass an answer back while it arrives, and count its usage when it has ended.

        It is read to its end even if the agent has disconnected, because the usage is at the end.
        """
        relay = self.server.relay
        counts = answer.status == HTTPStatus.OK and relay.endpoint.model_api.is_model_call(path)
        blocks: list[bytes] = []
        size, whole = 0, True
        self.send_response(answer.status)
        for name in _PASSED_BACK:
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        try:
            for block in answer.iterate_body(most=sys.maxsize):
                # An answer that announces too many bytes is still passed back up to the limit.
                if size + len(block) > ANSWER_BYTES:
                    raise _AnswerCutOff('the answer did not end in time or size')
                if not relay.answers.try_take(len(block)):
                    raise _AnswerCutOff('too many answers at once')
                size += len(block)
                blocks.append(block)
                whole = whole and self._try_send(b'%x\r\n%b\r\n' % (len(block), block))
        except (ServerUnreachable, UnreadableContent, _AnswerCutOff) as error:
            relay.note_trouble(_describe_trouble(error))
            whole = False
            self.close_connection = True
        finally:
            relay.answers.give_back(size)
            if counts:
                self._count_usage(path, answer.headers.get('content-type', ''), blocks)
            if 400 <= answer.status < 500 and answer.status != HTTPStatus.TOO_MANY_REQUESTS:
                relay.note_answered(self._describe_rejection(answer.status, b''.join(blocks)))
            self._log('said', b''.join(blocks), answer.status)  # last: a full disk hides no cost
        if whole:
            self._try_send(b'0\r\n\r\n')

    def _try_send(self, data: bytes) -> bool:
        """Send data to the agent; return False if it has disconnected."""
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except (ConnectionError, TimeoutError):
            self.close_connection = True
            return False
        return True

    def _log(self, asked_or_said: str, content: bytes, status: int | None = None) -> None:
        log = self.server.relay.log
        if log is not None:
            with _PARSING:
                log.append_request_or_answer(asked_or_said, self._hide_key(content), status)

    def _hide_key(self, content: bytes) -> bytes:
        """Return content without the key: an endpoint may repeat headers, and logs are handed in."""
        return self.server.relay.endpoint.hide_key(content)

    def _describe_rejection(self, status: int, content: bytes) -> Rejection:
        with _PARSING:
            reason = extract_explanation(self._hide_key(content)[:_MOST_EXPLAINED])
        # Again, since a message may itself be JSON.
        reason = self._hide_key(reason.encode()).decode('utf-8', 'replace')
        return Rejection(status=status, reason=escape_controls(reason))

    def _count_usage(self, path: str, kind: str, blocks: Sequence[bytes]) -> None:
        relay = self.server.relay
        try:
            with _PARSING:
                usage_documents = parse_usage_documents(kind, b''.join(blocks))
                usage = relay.endpoint.model_api.extract_usage(path, usage_documents)
            relay.meter.count_round(usage)
        except Fatal as error:
            relay.give_up(error)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.server.relay.note_refusal(why)
        self.close_connection = True  # the rest of the request is not read
        self._send_error(status, why)

    def _send_error(self, status: HTTPStatus, why: str) -> None:
        """Send an error in a form that the clients of all three APIs understand."""
        error = {'type': 'coevo_relay', 'code': int(status), 'message': f'coevo: {why}'}
        content = json.dumps({'type': 'error', 'error': error}).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(content)))
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self.send_header('Retry-After', '1')
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: rounds are counted, and refused calls are recorded."""


def _describe_trouble(error: Exception) -> str:
    """Return the kind of a failure, without any text from the endpoint."""
    if isinstance(error, ServerUnreachable):
        return next(
            (words for part, words in _TROUBLES.items() if part in error.kind),
            'the connection failed',
        )
    return (
        str(error) if isinstance(error, _AnswerCutOff) else 'the answer did not end in time or size'
    )


# Words for the HTTP client's errors, by a part of their names; the first counts.
_TROUBLES = {
    'ReadTimeout': f'it sent nothing for {IDLE_SECONDS:.0f} s',
    'NameResolution': 'its name is not known',
    'NewConnection': 'no connection could be opened',
    'ConnectTimeout': 'no connection could be opened in time',
    'SSL': 'no secure connection could be opened',
    'Proxy': 'the proxy cannot be reached',
    'Protocol': 'it closed the connection before the answer ended',
    'Incomplete': 'it closed the connection before the answer ended',
}


def _make_denial_error(endpoint: Endpoint, status: int) -> Fatal:
    return Fatal(
        f'{endpoint.url} denies access (status {status}); check the key, then run the same '
        'command again'
    )


# Limits for the memory that an agent's calls may take. They hold for one relay, which serves one
# attempt:
#
#     connections  32, each with a head of at most 128 KiB
#     a request    8 MiB and 200,000 JSON values. A context window of a million tokens is 4 MB of
#                  text, of which JSON escapes some; a thousand turns have a quarter of these values.
#     requests     32 MiB at once, from the first byte until the endpoint begins to answer; one is
#                  parsed at a time
#     answers      64 MiB and an hour each, 128 MiB at once
#
# Whatever exceeds a limit is answered with 413, 431 or 503. Requests wait only for the parser.

CONNECTIONS = 32
HEAD_BYTES = 64 << 10
_LINE_BYTES = (64 << 10) + 1

REQUEST_BYTES = 8 << 20
REQUEST_VALUES = 200_000
# The agent sends from this machine, so that a request needs no longer.
REQUEST_SECONDS = 60.0
REQUESTS_BYTES = 32 << 20

ANSWER_BYTES = 64 << 20
ANSWER_SECONDS = 3600.0
ANSWERS_BYTES = 128 << 20


class Allowance:
    """A number of bytes that may be in memory at once; safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._guard = threading.Lock()

    @property
    def remaining_bytes(self) -> int:
        """The number of bytes that can still be taken."""
        with self._guard:
            return self._left

    def try_take(self, count: int) -> bool:
        """Take this many bytes until they are given back; return False if fewer are left."""
        with self._guard:
            if count > self._left:
                return False
            self._left -= count
            return True

    def give_back(self, count: int) -> None:
        """Return bytes to the allowance."""
        with self._guard:
            self._left += count

    @contextmanager
    def borrow(self, count: int) -> Iterator[bool]:
        """Take this many bytes while entered; yields False if fewer are left."""
        is_taken = self.try_take(count)
        try:
            yield is_taken
        finally:
            if is_taken:
                self.give_back(count)


class HeadReader:
    """The stream of an agent's requests, which limits the length of a request's head.

    Raises: LineTooLong, which the server answers with 431.
    """

    def __init__(self, stream: BufferedIOBase) -> None:
        self._left = 0
        self.stream = stream
        self.close = stream.close

    def begin_request(self) -> None:
        """Start the count for the next request.

        The limit includes its first line, whose length the server itself checks after reading one
        byte more.
        """
        self._left = HEAD_BYTES + _LINE_BYTES

    def readline(self, size: int = -1) -> bytes:
        """Return a line of the head, as the stream does.

        Raises: LineTooLong if the head is too long.
        """
        line = self.stream.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise LineTooLong('head')
        return line

    @property
    def closed(self) -> bool:
        """True if the stream is closed."""
        return self.stream.closed
