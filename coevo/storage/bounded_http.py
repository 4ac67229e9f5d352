"""HTTP requests with limits on bytes and seconds. All web access of coevo goes through this module.

A socket's timeout ends a silent server, but not one that sends a byte a minute in a header, a
chunk's length or a body. Therefore a clock closes the connection when its seconds are over, at
whatever point the answer is. Redirects are followed to http and https only, and credentials are not
sent to another host.

Exceptions: PyGithub and Prefect have clients of their own; stores and files on S3 use obstore and
fsspec.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import ssl
import string
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from typing import Any, Self, TypeVar
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from coevo.model.errors import Fatal
from coevo.storage.bounded_reading import ContentTooLarge, ContentTooSlow, format_size, read_blocks

SILENCE = 60.0
"""Seconds after which a silent server is given up."""

# Bytes of an error answer that are read, for its message.
_MOST_OF_AN_ERROR = 64 << 10
_MOST_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SCHEMES = frozenset({'http', 'https'})
_HEADERS = {'User-Agent': 'coevo', 'Accept-Encoding': 'identity'}
NO_HEADERS: Mapping[str, str] = {}
_TROUBLE = (urllib3.exceptions.HTTPError, OSError, HTTPException, ValueError)

_Result = TypeVar('_Result')


class ServerUnreachable(OSError):
    """The server does not answer or breaks off; `kind` is the client's name for the error."""

    def __init__(self, text: str, kind: str = 'ServerUnreachable') -> None:
        super().__init__(text)
        self.kind = kind


class HttpStatusError(Exception):
    """An answer with an unsuccessful status; `body` is the beginning of its body."""

    def __init__(self, status: int, reason: str, body: bytes = b'') -> None:
        super().__init__(f'status {status}: {reason}')
        self.status, self.body = status, body


class HttpAnswer:
    """The head of an answer, and access to its unread body.

    length  of the body in bytes according to the server; None if it does not say
    """

    def __init__(self, response: urllib3.BaseHTTPResponse, clock: _RequestClock) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.length = response.length_remaining
        self._response, self._clock = response, clock

    def read(self, *, most: int) -> bytes:
        """Return the whole body.

        Raises: ContentTooLarge for more than `most` bytes, ContentTooSlow, ServerUnreachable if it
        breaks off.
        """
        return b''.join(self.iterate_body(most=most))

    def iterate_body(self, *, most: int) -> Iterator[bytes]:
        """Yield the body in blocks as they arrive; see `read` for the errors."""
        if self.length is not None and self.length > most:
            raise ContentTooLarge(f'has more than {format_size(most)}')
        count = 0
        blocks = read_blocks(self._response, most=most)
        while block := self._clock.call_step(partial(next, blocks, b'')):
            count += len(block)
            yield block
        if self.length is not None and count < self.length:
            raise ServerUnreachable(f'the answer breaks off after {count} of {self.length} bytes')

    def read_beginning_of_error_body(self) -> bytes:
        """Return the beginning of an error's body, or nothing if it cannot be read.

        Raises: ContentTooSlow.
        """
        with contextlib.suppress(ServerUnreachable):
            return self._clock.call_step(partial(self._response.read, _MOST_OF_AN_ERROR))
        return b''


def make_login_headers(login: str) -> dict[str, str]:
    """Return the `Authorization` header for a login `user:password`; none for an empty login."""
    return {'Authorization': f'Basic {b64encode(login.encode()).decode()}'} if login else {}


def find_environment_proxy(url: str) -> str | None:
    """Return the proxy that the environment sets for a URL; None for a URL on this machine.

    Raises: Fatal if the proxy is not an HTTP proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ''
    named = getproxies().get(parts.scheme)
    if named is None or host == 'localhost' or host.startswith('127.') or proxy_bypass(host):
        return None
    proxy = named if '://' in named else f'http://{named}'
    if not proxy.startswith(('http://', 'https://')):
        raise Fatal(f'${parts.scheme}_proxy is not a proxy of HTTP; name such a one, or none')
    return proxy


class HttpClient:
    """An HTTP client that reuses connections. Safe from several threads.

    find_proxy       returns the proxy for a URL, or None
    connect_seconds  timeout for making a connection
    """

    def __init__(
        self,
        *,
        find_proxy: Callable[[str], str | None] = find_environment_proxy,
        connect_seconds: float = SILENCE,
    ) -> None:
        self._find_proxy, self._connect_seconds = find_proxy, connect_seconds
        self._managers: dict[str | None, urllib3.PoolManager] = {}
        self._guard = threading.Lock()

    def close(self) -> None:
        """Close all connections."""
        for manager in self._managers.values():
            manager.clear()

    @contextmanager
    def open(
        self,
        url: str,
        *,
        seconds: float,
        silence: float = SILENCE,
        method: str = 'GET',
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Iterator[HttpAnswer]:
        """Send a GET or HEAD request and provide a successful answer, following redirects.

        seconds  limit from the request to the last byte of the answer, redirects included
        silence  seconds of silence that end a connection sooner

        Raises: HttpStatusError for a status other than 2xx, or for too many redirects;
        ServerUnreachable; ContentTooSlow.
        """
        sent = _complete_headers(headers)
        with _RequestClock(seconds) as clock:
            for _ in range(_MOST_REDIRECTS + 1):
                with self._send(clock, method, url, sent, silence) as answer:
                    target = clock.call_step(partial(_find_redirect_target, url, answer))
                    if target is None:
                        if not 200 <= answer.status < 300:
                            raise HttpStatusError(
                                answer.status, 'no success', answer.read_beginning_of_error_body()
                            )
                        yield answer
                        return
                    if urlsplit(target)[:2] != urlsplit(url)[:2]:
                        sent.pop('Authorization', None)
                    url = target
            raise HttpStatusError(302, 'its redirects are an infinite loop')

    @contextmanager
    def send(
        self,
        method: str,
        url: str,
        body: bytes,
        *,
        seconds: float,
        silence: float = SILENCE,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Iterator[HttpAnswer]:
        """Send a request with a body and provide its answer, whatever the status.

        Redirects are not followed. Raises: ServerUnreachable, ContentTooSlow.
        """
        with (
            _RequestClock(seconds) as clock,
            self._send(clock, method, url, _complete_headers(headers), silence, body) as answer,
        ):
            yield answer

    @contextmanager
    def _send(
        self,
        clock: _RequestClock,
        method: str,
        url: str,
        headers: Mapping[str, str],
        silence: float,
        body: bytes | None = None,
    ) -> Iterator[HttpAnswer]:
        longest = min(clock.seconds, silence)
        ask = partial(
            self._get_response,
            clock,
            method,
            url,
            body=body,
            headers=headers,
            timeout=urllib3.Timeout(connect=min(longest, self._connect_seconds), read=longest),
        )
        response = clock.call_step(ask)
        try:
            yield HttpAnswer(response, clock)
        finally:
            response.close()  # drops the connection too, unless the answer was read to its end
            response.release_conn()

    def _get_response(
        self, clock: _RequestClock, method: str, url: str, **options: object
    ) -> urllib3.BaseHTTPResponse:
        scheme = urlsplit(url).scheme
        if scheme not in _SCHEMES:
            raise ValueError(f'unknown url type: {scheme!r}')
        _question.clock = clock
        return self._get_manager(self._find_proxy(url)).request(
            method,
            url,
            preload_content=False,
            decode_content=False,
            # counted in `iterate_body`, which gives a clearer message
            enforce_content_length=False,
            redirect=False,
            retries=False,
            **options,  # type: ignore[arg-type]
        )

    def _get_manager(self, proxy: str | None) -> urllib3.PoolManager:
        with self._guard:
            manager = self._managers.get(proxy)
            if manager is None:
                make = partial(urllib3.ProxyManager, proxy) if proxy else urllib3.PoolManager
                manager = make(maxsize=8, ssl_context=_load_certificates())
                manager.pool_classes_by_scheme = {'http': _HttpPool, 'https': _HttpsPool}
                self._managers[proxy] = manager
            return manager


@contextmanager
def open_url(
    url: str,
    *,
    seconds: float,
    silence: float = SILENCE,
    method: str = 'GET',
    headers: Mapping[str, str] = NO_HEADERS,
) -> Iterator[HttpAnswer]:
    """Send a request on a connection of its own; see `HttpClient.open`."""
    client = HttpClient()
    try:
        with client.open(
            url, seconds=seconds, silence=silence, method=method, headers=headers
        ) as answer:
            yield answer
    finally:
        client.close()


class _RequestClock:
    """A timer that closes the connections of one request when its seconds are over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._is_over = False
        self._sockets: list[socket.socket] = []
        self._guard = threading.Lock()
        self._timer = threading.Timer(seconds, self._close_connections)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._guard:  # another request may use the connection by now
            self._sockets.clear()

    def watch_socket(self, connected: socket.socket) -> None:
        """Add a connection to close when the time is over."""
        with self._guard:
            self._sockets.append(connected)
        if self._is_over:
            self._close_connections()

    def call_step(self, step: Callable[[], _Result]) -> _Result:
        """Return the result of a step that uses the connection.

        Raises: ContentTooSlow if the time is over; ServerUnreachable for errors of the client or
        the socket.
        """
        try:
            result = step()
        except ContentTooLarge:
            raise
        except _TROUBLE as error:
            self._check_time()
            raise _explain_trouble(error) from None
        self._check_time()
        return result

    def _check_time(self) -> None:
        if self._is_over:
            raise ContentTooSlow(f'did not arrive within {self.seconds:.0f} seconds')

    def _close_connections(self) -> None:
        self._is_over = True
        with self._guard:
            for connected in self._sockets:
                with contextlib.suppress(OSError):  # already closed
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)


class _CurrentQuestion(threading.local):
    """The clock of the request that a thread is sending."""

    clock: _RequestClock | None = None


_question = _CurrentQuestion()


def _register_socket_with_clock(connected: socket.socket | None) -> None:
    if connected is not None and _question.clock is not None:
        _question.clock.watch_socket(connected)


class _WatchedHttpConnection(HTTPConnection):
    def connect(self) -> None:
        """Connect, and register the socket with the current request's clock."""
        super().connect()
        _register_socket_with_clock(self.sock)

    def putrequest(self, *words: Any, **options: Any) -> None:
        """Register a reused socket with the current request's clock, then start the request."""
        _register_socket_with_clock(
            self.sock
        )  # a reused connection, for which `connect` is not called
        super().putrequest(*words, **options)


class _WatchedHttpsConnection(HTTPSConnection):
    def connect(self) -> None:
        """Connect, and register the socket with the current request's clock."""
        super().connect()
        _register_socket_with_clock(self.sock)

    def putrequest(self, *words: Any, **options: Any) -> None:
        """Register a reused socket with the current request's clock, then start the request."""
        _register_socket_with_clock(self.sock)
        super().putrequest(*words, **options)


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _WatchedHttpConnection


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _WatchedHttpsConnection


def _complete_headers(headers: Mapping[str, str]) -> urllib3.HTTPHeaderDict:
    complete = urllib3.HTTPHeaderDict(_HEADERS)
    complete.update(headers)
    return complete


@functools.cache
def _load_certificates() -> ssl.SSLContext:
    """Load this machine's certificates once; reading them takes longer than a request."""
    return ssl.create_default_context()


def _find_redirect_target(url: str, answer: HttpAnswer) -> str | None:
    """Return the target of a redirect; None for any other answer.

    The body of a redirect is not read, since it may be endless.

    Raises: HttpStatusError for a redirect to another protocol.
    """
    location = answer.headers.get('location')
    if answer.status not in _REDIRECTS or location is None:
        return None
    target = urljoin(url, quote(location, encoding='iso-8859-1', safe=string.punctuation))
    if urlsplit(target).scheme not in _SCHEMES:
        raise HttpStatusError(answer.status, 'a redirect to another protocol is not allowed')
    return target


def _explain_trouble(error: Exception) -> ServerUnreachable:
    """Return the reason for a failure, without the client's wording around it.

    That wording may repeat data from the server.
    """
    reason: BaseException = error
    if isinstance(error, urllib3.exceptions.HTTPError):
        inner = [item for item in error.args if isinstance(item, Exception)]
        reason = inner[-1] if inner else error.__cause__ or error
    text = ''.join(letter for letter in str(reason)[:200] if letter.isprintable())
    return ServerUnreachable(text or type(reason).__name__, type(error).__name__)
