"""Answers of web servers, read within bounds of bytes and seconds.

A socket's timeout ends a server that is silent, not one that sends a byte a minute, be it of a header, of a chunk's length
or of a body. So a clock closes the connection when the seconds are over, wherever the answer is by then. Redirects lead to
http and https alone, and carry no password to another host.
"""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import Request

from coevo.storage.bounded_reading import ContentTooLarge, ContentTooSlow, format_size, read_blocks

SILENCE = 60.0
"""Seconds that a server may send nothing."""

# Of an answer that is an error, which is read for its words alone.
_MOST_OF_AN_ERROR = 64 << 10


class ServerUnreachable(OSError):
    """A server does not answer, or breaks off; the text says why."""


class HttpAnswer:
    """The head of an answer, and its body, which is not read yet.

    length  of the body in bytes, as the server says; None if it does not
    """

    def __init__(self, response: HTTPResponse, clock: _RequestClock) -> None:
        self.status, self.headers = response.status, response.headers
        self.length = _read_length(response)
        self._response, self._clock = response, clock

    def read(self, *, most: int) -> bytes:
        """Return the whole body. Raises: TooLarge, TooSlow, Unreachable."""
        return b''.join(self.iterate_body(most=most))

    def iterate_body(self, *, most: int) -> Iterator[bytes]:
        """Yield the body in blocks; errors are those of `read`."""
        if self.length is not None and self.length > most:
            raise ContentTooLarge(f'has more than {format_size(most)}')
        count = 0
        blocks = read_blocks(self._response, most=most)
        while block := self._clock.call_step(partial(next, blocks, b'')):
            count += len(block)
            yield block
        if self.length is not None and count < self.length:
            raise ServerUnreachable(f'the answer breaks off after {count} of {self.length} bytes')


@contextmanager
def open_url(
    request: Request | str, *, seconds: float, silence: float = SILENCE
) -> Iterator[HttpAnswer]:
    """Ask a server, and give the answer while entered.

    seconds  from the question to the last byte of the answer, redirects included
    silence  that ends a connection sooner

    Raises: urllib.error.HTTPError for a status of 300 and above, with the beginning of the body;
    Unreachable; TooSlow.
    """
    clock = _RequestClock(seconds)
    opener = _build_opener(clock)
    try:
        timeout = min(seconds, silence)
        with clock.call_step(partial(opener.open, request, timeout=timeout)) as response:
            yield HttpAnswer(response, clock)
    finally:
        clock.stop_clock()


def fetch_body(
    request: Request | str, *, most: int, seconds: float, silence: float = SILENCE
) -> bytes:
    """Return the body of an answer; errors are those of `open_url`, and TooLarge."""
    with open_url(request, seconds=seconds, silence=silence) as answer:
        return answer.read(most=most)


class _RequestClock:
    """Closes the connections of one question when its seconds are over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_over = False
        self._sockets: list[socket.socket] = []
        self._guard = threading.Lock()
        self._timer = threading.Timer(seconds, self._close_connections)
        self._timer.daemon = True
        self._timer.start()

    def watch_socket(self, connected: socket.socket) -> None:
        with self._guard:
            self._sockets.append(connected)
        if self._is_over:
            self._close_connections()

    def stop_clock(self) -> None:
        self._timer.cancel()

    def call_step(self, step: partial[Any]) -> Any:
        """What a step with the connection returns; its errors as this module says them."""
        try:
            result = step()
        except ContentTooLarge:
            raise
        except urllib.error.HTTPError as error:
            self._check_time()
            raise self._shorten_error(error) from None
        except (OSError, HTTPException, ValueError) as error:
            self._check_time()
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise ServerUnreachable(_describe_reason(reason)) from None
        self._check_time()
        return result

    def _shorten_error(self, error: urllib.error.HTTPError) -> urllib.error.HTTPError:
        """The error with the beginning of its body, which is read and closed."""
        body = b''
        with contextlib.suppress(OSError, HTTPException, ValueError), error:
            body = error.read(_MOST_OF_AN_ERROR)
        self._check_time()
        return urllib.error.HTTPError(
            error.url, error.code, error.msg, error.hdrs, io.BytesIO(body)
        )

    def _check_time(self) -> None:
        if self._is_over:
            raise ContentTooSlow(f'did not arrive within {self._seconds:.0f} seconds')

    def _close_connections(self) -> None:
        self._is_over = True
        with self._guard:
            for connected in self._sockets:
                with contextlib.suppress(OSError):  # it is closed already
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)


class _BoundedHttpHandler(urllib.request.HTTPHandler):
    def __init__(self, clock: _RequestClock) -> None:
        super().__init__()
        self._clock = clock

    def http_open(self, request: Request) -> HTTPResponse:
        return self.do_open(partial(_WatchedHttpConnection, clock=self._clock), request)


class _BoundedHttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, clock: _RequestClock) -> None:
        super().__init__()
        self._clock = clock

    def https_open(self, request: Request) -> HTTPResponse:
        return self.do_open(partial(_WatchedHttpsConnection, clock=self._clock), request)


class _WatchedHttpConnection(HTTPConnection):
    def __init__(self, host: str, *, clock: _RequestClock, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._clock = clock

    def connect(self) -> None:
        super().connect()
        self._clock.watch_socket(self.sock)


class _WatchedHttpsConnection(HTTPSConnection):
    def __init__(self, host: str, *, clock: _RequestClock, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._clock = clock

    def connect(self) -> None:
        super().connect()
        self._clock.watch_socket(self.sock)


class _RedirectHandler(urllib.request.HTTPRedirectHandler):
    """The library's, but that the body of a redirect is not read, which may have no end."""

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message
    ) -> Any:
        fp.close()
        return super().http_error_302(req, io.BytesIO(), code, msg, headers)  # type: ignore[arg-type]

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        if new is not None:
            if req.get_method() == 'HEAD':
                new.method = 'HEAD'
            if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
                new.remove_header('Authorization')
        return new


def _build_opener(clock: _RequestClock) -> urllib.request.OpenerDirector:
    """Of no other schemes than http and https: urllib's own knows file, ftp and data."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _RedirectHandler(),
        _BoundedHttpHandler(clock),
        _BoundedHttpsHandler(clock),
    ):
        opener.add_handler(handler)
    return opener


def _read_length(response: HTTPResponse) -> int | None:
    if response._method == 'HEAD':  # type: ignore[attr-defined]
        return None
    return response.length


def _describe_reason(reason: object) -> str:
    """Why there is no answer: it may repeat what the server sent."""
    text = ''.join(letter for letter in str(reason)[:200] if letter.isprintable())
    return text or type(reason).__name__
