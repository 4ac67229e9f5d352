"""Fetch files from web servers, tried again where a network failed.

A status that says that a file is not there is an answer. A server that cannot be reached, or that has a fault
of its own, is trouble of ours and no answer. Bytes and seconds are bounded by `coevo.storage.bounded_http`.
"""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO
from urllib.parse import unquote, urlsplit, urlunsplit

from coevo.model.errors import Transient
from coevo.storage.bounded_http import ServerUnreachable, open_url
from coevo.storage.bounded_reading import UnreadableContent

_TRIES = 4
_PAUSE = 1.0
# A server that answers so asks to be asked again (RFC 9110, 15.5.9; RFC 6585, 4).
_PASSING = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswer:
    """What a server answered.

    status   of HTTP, below 500
    headers  by lower-case name
    content  the body; empty where it was written to a file
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b''

    @property
    def is_found(self) -> bool:
        return self.status == 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """Fetches files. Safe from several threads.

    tries  how often a file is asked for
    pause  seconds before the second try, doubled each time
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
        """Return the answer to GET.

        url         a user and a password in it are sent as a login
        most_bytes  of the body
        seconds     for the whole answer, so that a server which drips does not hold us
        into        a file for the body of an answer 200; it is emptied before each try
        part        the first and the last byte that are wanted: a server answers 206 with them, or 200 with the
                    whole file

        Raises: Transient where the server cannot be reached, has a fault, or sends too much.
        """
        request = urllib.request.Request(
            _remove_login(url), headers=_build_headers(url, accept, part)
        )
        for number in range(self.tries):
            try:
                return _fetch_once(request, most_bytes, seconds, into, part)
            except (ServerUnreachable, UnreadableContent, Transient) as error:
                trouble = error
            if number < self.tries - 1:
                time.sleep(self.pause * 2**number)
        raise Transient(f'{_remove_login(url)} cannot be fetched: {trouble}') from None


def _fetch_once(
    request: urllib.request.Request,
    most: int,
    seconds: float,
    into: IO[bytes] | None,
    part: tuple[int, int] | None,
) -> FetchAnswer:
    try:
        with open_url(request, seconds=seconds) as answer:
            headers = {name.lower(): text for name, text in answer.headers.items()}
            if part is not None and answer.status == 206:
                most = part[1] - part[0] + 1
            if into is None or answer.status != 200:
                content = answer.read(most=most)
                return FetchAnswer(status=answer.status, headers=headers, content=content)
            into.seek(0)
            into.truncate()
            for block in answer.iterate_body(most=most):
                into.write(block)
            return FetchAnswer(status=answer.status, headers=headers)
    except urllib.error.HTTPError as error:
        if error.code >= 500 or error.code in _PASSING:
            raise Transient(f'the server says {error.code}') from None
        return FetchAnswer(status=error.code)


def _remove_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition('@')[2]))


def _build_headers(url: str, accept: str, part: tuple[int, int] | None) -> dict[str, str]:
    headers = {'Accept': accept, 'Accept-Encoding': 'identity', 'User-Agent': 'coevo'}
    if part is not None:
        headers['Range'] = f'bytes={part[0]}-{part[1]}'
    login = urlsplit(url).netloc.rpartition('@')[0]
    if login:
        headers['Authorization'] = f'Basic {b64encode(unquote(login).encode()).decode()}'
    return headers
