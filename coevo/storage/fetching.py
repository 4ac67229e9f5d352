"""Fetch files from web servers, with retries after network failures.

A status such as 404 is an answer. An unreachable server or one with an internal error is a
transient failure. `coevo.storage.bounded_http` limits bytes and seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import IO, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from coevo.model.errors import Transient
from coevo.storage.bounded_http import (
    HttpStatusError,
    ServerUnreachable,
    make_login_headers,
    open_url,
)
from coevo.storage.bounded_reading import UnreadableContent

_Result = TypeVar('_Result')


def retry(
    attempt: Callable[[], _Result],
    *,
    tries: int = 4,
    pause: float = 1.0,
    longest_pause: float = math.inf,
    on: tuple[type[Exception], ...] = (Transient,),
    sleep: Callable[[float], object] = time.sleep,
) -> _Result:
    """Return the result of the first successful attempt; the error of the last attempt is raised.

    tries          number of attempts
    pause          seconds before the second attempt, doubled before each further one
    longest_pause  limit of the pause in seconds
    on             errors that lead to another attempt; any other is raised at once
    """
    for number in range(tries - 1):
        try:
            return attempt()
        except on:
            sleep(min(pause * 2**number, longest_pause))
    return attempt()


_TRIES = 4
_PAUSE = 1.0
# Statuses that ask the client to try again (RFC 9110, 15.5.9; RFC 6585, 4).
_PASSING = frozenset({408, 425, 429})
_TROUBLE = (ServerUnreachable, UnreadableContent, Transient)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswer:
    """A server's answer.

    status   HTTP status below 500
    headers  by lower-case name
    content  the body; empty if it was written to a file
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b''

    @property
    def is_found(self) -> bool:
        """True for status 200, but not for 206, the answer to a request for a part."""
        return self.status == 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """A client that fetches files with retries. Safe from several threads.

    tries  number of attempts for a file
    pause  seconds before the second attempt, doubled each time
    """

    tries: int = field(default_factory=lambda: _TRIES)
    pause: float = field(default_factory=lambda: _PAUSE)

    def fetch(
        self,
        url: str,
        *,
        most_bytes: int,
        seconds: float,
        accept: str = '*/*',
        into: IO[bytes] | None = None,
        part: tuple[int, int] | None = None,
    ) -> FetchAnswer:
        """Return the answer to a GET request.

        url         user and password in it are sent as a login
        most_bytes  limit of the body
        seconds     limit for the whole answer of one attempt, so that a slow server cannot block
                    the caller
        into        file for the body of an answer 200; emptied before it is written
        part        first and last byte to request: a server answers 206 with them, or 200 with the
                    whole file

        Raises: Transient if the server cannot be reached, has an internal error, or sends too much.
        """
        bare_url = _remove_login(url)
        headers = _build_headers(url, accept, part)
        once = partial(_fetch_once, bare_url, headers, most_bytes, seconds, into, part)
        try:
            return retry(once, tries=self.tries, pause=self.pause, on=_TROUBLE)
        except _TROUBLE as error:
            raise Transient(f'{bare_url} cannot be fetched: {error}') from None


def _fetch_once(
    url: str,
    headers: Mapping[str, str],
    most: int,
    seconds: float,
    into: IO[bytes] | None,
    part: tuple[int, int] | None,
) -> FetchAnswer:
    try:
        with open_url(url, seconds=seconds, headers=headers) as answer:
            received = {name.lower(): text for name, text in answer.headers.items()}
            if part is not None and answer.status == 206:
                most = part[1] - part[0] + 1
            if into is None or answer.status != 200:
                content = answer.read(most=most)
                return FetchAnswer(status=answer.status, headers=received, content=content)
            into.seek(0)
            into.truncate()
            for block in answer.iterate_body(most=most):
                into.write(block)
            return FetchAnswer(status=answer.status, headers=received)
    except HttpStatusError as error:
        if error.status >= 500 or error.status in _PASSING:
            raise Transient(f'the server says {error.status}') from None
        return FetchAnswer(status=error.status)


def _remove_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition('@')[2]))


def _build_headers(url: str, accept: str, part: tuple[int, int] | None) -> dict[str, str]:
    headers = {'Accept': accept}
    if part is not None:
        headers['Range'] = f'bytes={part[0]}-{part[1]}'
    return headers | make_login_headers(unquote(urlsplit(url).netloc.rpartition('@')[0]))
