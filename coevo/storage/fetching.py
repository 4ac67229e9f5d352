"""Fetch files from web servers: bounded in bytes and in time, tried again where a network failed.

A status that says that a file is not there is an answer. A server that cannot be reached, or that has a fault
of its own, is trouble of ours and no answer.
"""

from __future__ import annotations

import io
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import partial
from typing import IO
from urllib.parse import unquote
from urllib.parse import urlsplit
from urllib.parse import urlunsplit
from urllib.request import getproxies
from urllib.request import proxy_bypass

import urllib3

from coevo.model.errors import Transient

_BLOCK = 1 << 16
_TRIES = 4
_PAUSE = 1.0
_CONNECT_SECONDS, _SILENT_SECONDS = 15.0, 60.0
_POOL = 8
# A server that answers so asks to be asked again (RFC 9110, 15.5.9 and 15.6; RFC 6585, 4).
_PASSING = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
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


class Fetcher:
    """Keeps connections to servers. Safe from several threads."""

    def __init__(self, *, tries: int = _TRIES, pause: float = _PAUSE) -> None:
        """Take how often a file is asked for, and the seconds before the second try, doubled each time."""
        self._tries, self._pause = tries, pause
        self._pools: dict[str, urllib3.PoolManager] = {}
        self._guard = threading.Lock()

    def fetch(
        self,
        url: str,
        *,
        most_bytes: int,
        seconds: float,
        accept: str = '*/*',
        into: IO[bytes] | None = None,
    ) -> Fetched:
        """Return the answer to GET.

        url         a user and a password in it are sent as a login
        most_bytes  of the body
        seconds     for the whole answer, so that a server which drips does not hold us
        into        a file for the body of an answer 200; it is emptied before each try

        Raises: Transient where the server cannot be reached, has a fault, or sends too much.
        """
        for number in range(self._tries):
            try:
                return self._fetch_once(url, most_bytes, seconds, accept, into)
            except (urllib3.exceptions.HTTPError, OSError, Transient) as error:
                trouble = error
            if number < self._tries - 1:
                time.sleep(self._pause * 2**number)
        raise Transient(f'{_without_login(url)} cannot be fetched: {trouble}') from None

    def close(self) -> None:
        for pool in self._pools.values():
            pool.clear()

    def _fetch_once(
        self, url: str, most_bytes: int, seconds: float, accept: str, into: IO[bytes] | None
    ) -> Fetched:
        deadline = time.monotonic() + seconds
        response = self._pool_for(url).request(
            'GET',
            _without_login(url),
            headers=_headers(url, accept),
            preload_content=False,
            redirect=True,
        )
        try:
            if response.status >= 500 or response.status in _PASSING:
                raise Transient(f'the server says {response.status}')
            sink: IO[bytes] = into if into is not None and response.status == 200 else io.BytesIO()
            sink.seek(0)
            sink.truncate()
            size = 0
            for block in response.stream(_BLOCK, decode_content=False):
                size += len(block)
                if size > most_bytes:
                    raise Transient(f'the server sends more than {most_bytes} bytes')
                if time.monotonic() > deadline:
                    raise Transient(f'the server takes more than {seconds:.0f} seconds')
                sink.write(block)
            content = sink.getvalue() if isinstance(sink, io.BytesIO) and sink is not into else b''
            headers = {name.lower(): text for name, text in response.headers.items()}
            return Fetched(status=response.status, headers=headers, content=content)
        finally:
            response.close()  # drops the connection, too, unless all was read
            response.release_conn()

    def _pool_for(self, url: str) -> urllib3.PoolManager:
        parts = urlsplit(url)
        proxy = _proxy(parts.scheme, parts.hostname or '') or ''
        with self._guard:
            if proxy not in self._pools:
                self._pools[proxy] = _make_pool(proxy)
            return self._pools[proxy]


def _make_pool(proxy: str) -> urllib3.PoolManager:
    make = partial(urllib3.ProxyManager, proxy) if proxy else urllib3.PoolManager
    return make(
        maxsize=_POOL,
        timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=_SILENT_SECONDS),
        retries=urllib3.Retry(total=None, connect=0, read=0, redirect=5, status=0, other=0),
    )


def _proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names for a host; None for one of this machine."""
    named = getproxies().get(scheme)
    if named is None or host == 'localhost' or host.startswith('127.') or proxy_bypass(host):
        return None
    return named if '://' in named else f'http://{named}'


def _without_login(url: str) -> str:
    place = urlsplit(url)
    return urlunsplit(place._replace(netloc=place.netloc.rpartition('@')[2]))


def _headers(url: str, accept: str) -> dict[str, str]:
    headers = {'Accept': accept, 'Accept-Encoding': 'identity', 'User-Agent': 'coevo'}
    login = urlsplit(url).netloc.rpartition('@')[0]
    if login:
        headers['Authorization'] = f'Basic {b64encode(unquote(login).encode()).decode()}'
    return headers
