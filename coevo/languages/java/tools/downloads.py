"""Fetch a file, whole and with the right checksum, from the first package repository that has it.

If every repository reports the file as absent, that is a result; if one cannot answer, that is an
infrastructure error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO
from urllib.parse import quote, urlsplit, urlunsplit

from coevo.languages.java.tools.upstreams import Upstream
from coevo.model.errors import Transient
from coevo.storage.bounded_http import (
    HttpAnswer,
    HttpClient,
    HttpStatusError,
    ServerUnreachable,
    make_login_headers,
)
from coevo.storage.bounded_reading import ContentTooLarge, UnreadableContent
from coevo.storage.fetching import retry

_LARGEST_BYTES, _SECONDS = 1 << 30, 1800.0
_CHECKSUM_BYTES, _CHECKSUM_SECONDS = 64 << 10, 60.0
_ABSENT = (404, 410)
_SHA1 = re.compile(r'\b[0-9a-fA-F]{40}\b')


class ArtifactDownloads:
    """Downloads files from package repositories over persistent connections; thread-safe.

    `tries` is the number of tries for each repository, `pause` the seconds before the second one.
    """

    def __init__(self, upstreams: Sequence[Upstream], *, tries: int = 4, pause: float = 1) -> None:
        self._sources = [_ArtifactSource(upstream) for upstream in upstreams]
        self._tries, self._pause = tries, pause

    def fetch(self, path: str, file: IO[bytes]) -> bool:
        """Write a file of the first repository that has it to `file`; return whether one has it.

        Raises: Transient if a repository cannot answer and no other one has the file.
        """
        trouble: Transient | None = None
        for source in self._sources:
            try:
                if retry(partial(source.fetch, path, file), tries=self._tries, pause=self._pause):
                    return True
            except Transient as error:
                trouble = error
        if trouble is not None:
            raise trouble
        return False

    def close(self) -> None:
        """Close all connections."""
        for source in self._sources:
            source.close()


class _ArtifactSource:
    """One package repository."""

    def __init__(self, upstream: Upstream) -> None:
        url_parts = urlsplit(upstream.url)
        login, _, host = url_parts.netloc.rpartition('@')
        self._base = urlunsplit(url_parts._replace(netloc=host))
        # Maven's settings decide which proxy to use, not the environment.
        self._client = HttpClient(find_proxy=lambda _: upstream.proxy, connect_seconds=15)
        self._headers = make_login_headers(login)

    def fetch(self, path: str, file: IO[bytes]) -> bool:
        """Download a file once, after emptying `file`; return False if it does not exist.

        Raises: Transient if the repository fails or the checksum differs from the announced one.
        """
        file.seek(0)
        file.truncate()
        digest = hashlib.sha1(usedforsecurity=False)
        with self._open_answer(path, _SECONDS) as answer:
            if answer is None:
                return False
            announced = _find_sha1(answer.headers.get('x-checksum-sha1', ''))
            for block in answer.iterate_body(most=_LARGEST_BYTES):
                digest.update(block)
                file.write(block)
        announced = announced or self._fetch_announced_sha1(path)
        if announced not in (None, digest.hexdigest()):
            raise Transient(f'{path} arrived with another checksum than announced')
        return True

    def close(self) -> None:
        """Close the connections to this repository."""
        self._client.close()

    def _fetch_announced_sha1(self, path: str) -> str | None:
        """Download a file's `.sha1` file; return its SHA-1, None if it is missing or unusable."""
        with self._open_answer(f'{path}.sha1', _CHECKSUM_SECONDS) as answer:
            if answer is None:
                return None
            try:
                text = answer.read(most=_CHECKSUM_BYTES)
            except ContentTooLarge:
                return None
            return _find_sha1(text.decode(errors='replace'))

    @contextmanager
    def _open_answer(self, path: str, seconds: float) -> Iterator[HttpAnswer | None]:
        """Request a file; yield the answer with its body unread, None if there is no such file.

        Raises: Transient for any other status and if the repository cannot be reached.
        """
        url = f'{self._base}/{quote(path)}'
        try:
            with self._client.open(url, seconds=seconds, headers=self._headers) as answer:
                if answer.status != 200:
                    raise Transient(f'{path}: the repository answered {answer.status}')
                yield answer
        except HttpStatusError as error:
            if error.status not in _ABSENT:
                raise Transient(f'{path}: the repository answered {error.status}') from None
            yield None
        except UnreadableContent as error:
            raise Transient(f'{path} {error}') from None
        except ServerUnreachable as error:
            raise Transient(f'{path}: {error}') from None


def _find_sha1(text: str) -> str | None:
    """Return the first SHA-1 in a text, in lower case; None if there is none."""
    match = _SHA1.search(text)
    return match[0].lower() if match else None
