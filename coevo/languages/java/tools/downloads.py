"""Fetch a file from the first package repository that has it, whole and with the right checksum.

That no repository has a file is an answer; that one could not be asked is trouble of ours.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO
from urllib.parse import quote, urlsplit, urlunsplit

import urllib3

from coevo.languages.java.tools.upstreams import Upstream
from coevo.model.errors import Transient
from coevo.storage.bounded_reading import (
    ContentTooLarge,
    UnreadableContent,
    read_blocks,
    read_stream,
)

_LARGEST_BYTES, _SECONDS = 1 << 30, 1800.0
_CHECKSUM_BYTES, _CHECKSUM_SECONDS = 64 << 10, 60.0
_ABSENT = (404, 410)
_SHA1 = re.compile(r'\b[0-9a-fA-F]{40}\b')

Opened = urllib3.BaseHTTPResponse


class ArtifactDownloads:
    """Keeps connections; safe from several threads. `pause` is the first one between tries."""

    def __init__(self, upstreams: Sequence[Upstream], *, tries: int = 4, pause: float = 1) -> None:
        self._sources = [_ArtifactSource(upstream) for upstream in upstreams]
        self._tries, self._pause = tries, pause

    def fetch(self, path: str, file: IO[bytes]) -> bool:
        """Write a file of a repository; False if none has it; Transient if one cannot be asked."""
        trouble: Transient | None = None
        for source in self._sources:
            try:
                if self._retry(partial(source.fetch, path, file)):
                    return True
            except Transient as error:
                trouble = error
        if trouble is not None:
            raise trouble
        return False

    def _retry(self, attempt: Callable[[], bool]) -> bool:
        for number in range(self._tries):
            try:
                return attempt()
            except Transient:
                if number == self._tries - 1:
                    raise
                time.sleep(self._pause * 2**number)
        raise AssertionError('the last try returned or raised')

    def close(self) -> None:
        for source in self._sources:
            source.close()


class _ArtifactSource:
    """One repository."""

    def __init__(self, upstream: Upstream) -> None:
        url_parts = urlsplit(upstream.url)
        user, _, password = url_parts.netloc.rpartition('@')[0].partition(':')
        self._base = urlunsplit(url_parts._replace(netloc=url_parts.netloc.rpartition('@')[2]))
        headers = urllib3.make_headers(
            accept_encoding='identity',
            user_agent='coevo',
            basic_auth=f'{user}:{password}' if user else None,
        )
        pool = (
            partial(urllib3.ProxyManager, upstream.proxy) if upstream.proxy else urllib3.PoolManager
        )
        self._pool = pool(
            headers=headers,
            maxsize=8,
            timeout=urllib3.Timeout(connect=15, read=60),
            retries=urllib3.Retry(total=None, connect=0, read=0, redirect=5, status=0, other=0),
        )

    def fetch(self, path: str, file: IO[bytes]) -> bool:
        """One try; `file` is emptied first."""
        file.seek(0)
        file.truncate()
        digest = hashlib.sha1(usedforsecurity=False)
        with self._open_response(path) as response:
            if response is None:
                return False
            announced = _find_sha1(response.headers.get('x-checksum-sha1', ''))
            for block in read_blocks(response, most=_LARGEST_BYTES, seconds=_SECONDS):
                digest.update(block)
                file.write(block)
        announced = announced or self._fetch_announced_sha1(path)
        if announced not in (None, digest.hexdigest()):
            raise Transient(f'{path} arrived with another checksum than announced')
        return True

    def close(self) -> None:
        self._pool.clear()

    def _fetch_announced_sha1(self, path: str) -> str | None:
        """None where the repository has no checksum, or one that says nothing."""
        with self._open_response(f'{path}.sha1') as response:
            if response is None:
                return None
            try:
                text = read_stream(response, most=_CHECKSUM_BYTES, seconds=_CHECKSUM_SECONDS)
            except ContentTooLarge:
                return None
            return _find_sha1(text.decode(errors='replace'))

    @contextmanager
    def _open_response(self, path: str) -> Iterator[Opened | None]:
        """The response with the body still to be read; None if there is no such file."""
        try:
            url = f'{self._base}/{quote(path)}'
            response = self._pool.request('GET', url, preload_content=False, decode_content=False)
            try:
                if response.status not in (200, *_ABSENT):
                    raise Transient(f'{path}: the repository answered {response.status}')
                yield response if response.status == 200 else None
            finally:
                response.close()  # drops the connection too, unless all was read
                response.release_conn()
        except UnreadableContent as error:
            raise Transient(f'{path} {error}') from None
        except urllib3.exceptions.HTTPError as error:
            raise Transient(f'{path}: {error}') from error


def _find_sha1(text: str) -> str | None:
    """The first SHA-1 of a checksum file, which may name its file too, or of a header."""
    match = _SHA1.search(text)
    return match[0].lower() if match else None
