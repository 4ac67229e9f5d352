"""Access to the indexes configured for this machine's uv.

Pages are cached for ten minutes in memory, files in the tool cache. Only the pages of configured
indexes and the files that they name are fetched.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from netrc import NetrcParseError, netrc
from pathlib import Path
from urllib.parse import quote, urlsplit

from coevo.languages.python import uv
from coevo.languages.python.index_pages import (
    ACCEPT,
    HTML_TYPE,
    IndexFile,
    IndexPage,
    InvalidIndexPage,
    parse_page,
)
from coevo.model.errors import Transient
from coevo.storage.beneath import join_beneath
from coevo.storage.disk import find_cache_folder
from coevo.storage.fetching import FetchAnswer, Fetcher

_PAGE_BYTES, _FILE_BYTES, _METADATA_BYTES = 64 << 20, 4 << 30, 16 << 20
MOST_PART_BYTES = 16 << 20
_PAGE_SECONDS, _FILE_SECONDS = 120.0, 1800.0
_FRESH_SECONDS = 600.0
# Limit of the cached pages in memory; a parsed page takes about twice its bytes in addition.
_KEPT_BYTES, _WEIGHT = 96 << 20, 3
_TOTAL = re.compile(r'bytes (\d+)-(\d+)/(\d+)')
# The name of a project in an address (PEP 503).
_NAME = re.compile('[a-z0-9]+(-[a-z0-9]+)*')
_LONGEST_NAME = 200


class IndexRefusal(Exception):
    """Raised when an index refuses a request. `status` is the HTTP status, 400 to 499."""

    def __init__(self, status: int) -> None:
        super().__init__(f'the index answers {status}')
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedPage:
    until: float
    page: IndexPage | IndexRefusal


class PackageIndex:
    """The package indexes of one configuration, with caches of pages and files. Thread-safe."""

    def __init__(
        self, sources: uv.IndexSources, home: Path, fetcher: Fetcher | None = None
    ) -> None:
        """Take the addresses of the indexes, and a folder for files."""
        self.sources, self._home = sources, home
        self._fetcher = fetcher or Fetcher()
        self._logins = _load_logins()
        self._pages: dict[str, _CachedPage] = {}
        self._weight = 0
        self._guard = threading.Lock()

    def get_page(self, number: int, name: str) -> IndexPage:
        """Return the page of a project in an index, at most ten minutes old.

        number  of the index in the configuration, from 0
        name    normalised (PEP 503)

        Raises:
            IndexRefusal: also for an invalid name
            Transient: the index cannot be reached, or answers with no page of files
        """
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
            raise IndexRefusal(404)
        return self._get_page(f'{self.sources.indexes[number].rstrip("/")}/{name}/', ACCEPT)

    def get_links_page(self, number: int) -> IndexPage:
        """Return a configured page of links that belongs to no index, at most ten minutes old.

        number  of the page in the configuration, from 0

        Raises: IndexRefusal, Transient
        """
        return self._get_page(self.sources.links[number], HTML_TYPE)

    def fetch_file(self, file: IndexFile) -> Path:
        """Return the path of a file in the tool cache, fetched if need be.

        Its digest was checked, if the page gives one.

        Raises: IndexRefusal, Transient
        """
        path = self._locate_file(file)
        if not path.is_file():
            self._fetch_part_or_cache_file(file, None)
        return path

    def get_size(self, file: IndexFile) -> int:
        """Return the size of a file in bytes, from the cache, the page or the server.

        Raises: IndexRefusal, Transient
        """
        if self._locate_file(file).is_file():
            return self._locate_file(file).stat().st_size
        return file.size if file.size is not None else self._measure_size(file)

    def load_part(self, file: IndexFile, first: int, last: int) -> bytes:
        """Return the bytes from `first` to `last`, both included, of a file that has them.

        They come from the cache or are fetched. A server that cannot send parts has the whole file
        cached.

        Raises: IndexRefusal, Transient
        """
        assert 0 <= first <= last < first + MOST_PART_BYTES
        whole = self._locate_file(file)
        key = _hash_text(f'{file.url}\n{file.sha256}\n{first}-{last}')
        path = self._home / 'parts' / key  # own name: a digest
        with suppress(FileNotFoundError):
            return path.read_bytes()
        answer = None if whole.is_file() else self._fetch_part_or_cache_file(file, (first, last))
        if answer is None:
            with whole.open('rb') as stream:
                stream.seek(first)
                return stream.read(last - first + 1)
        range_match = _TOTAL.fullmatch(answer.headers.get('content-range', ''))
        if (
            range_match is None
            or int(range_match[1]) != first
            or len(answer.content) != last - first + 1
        ):
            raise Transient('the package index sends another part of a file than it is asked for')
        _write_cached(path, answer.content)
        return answer.content

    def fetch_metadata(self, file: IndexFile) -> Path:
        """Return the path of a wheel's metadata file (PEP 658) in the cache, fetched if need be.

        Its digest was checked, if the page gives one.

        Raises: IndexRefusal, Transient
        """
        key = _hash_text(f'{file.url}\n{file.sha256}')
        path = self._home / 'metadata' / key  # own name: a digest
        if not path.is_file():
            answer = self._fetcher.fetch(
                _make_metadata_url(_add_login(file.url, self._logins)),
                most_bytes=_METADATA_BYTES,
                seconds=_PAGE_SECONDS,
            )
            _check_status(answer)
            _check_digest(hashlib.sha256(answer.content).hexdigest(), file.metadata_sha256)
            _write_cached(path, answer.content)
        return path

    def _get_page(self, url: str, accept: str) -> IndexPage:
        with self._guard:
            entry = self._pages.pop(url, None)
            if entry is not None:
                self._pages[url] = entry  # most recently used
        if entry is None or entry.until < time.monotonic():
            entry = _CachedPage(
                until=time.monotonic() + _FRESH_SECONDS, page=self._fetch_page(url, accept)
            )
            self._cache_page(url, entry)
        if isinstance(entry.page, IndexRefusal):
            raise IndexRefusal(entry.page.status)
        return entry.page

    def _cache_page(self, url: str, kept: _CachedPage) -> None:
        with self._guard:
            self._weight += _weigh_page(kept) - _weigh_page(self._pages.pop(url, None))
            self._pages[url] = kept
            while self._weight > _KEPT_BYTES and len(self._pages) > 1:
                self._weight -= _weigh_page(self._pages.pop(next(iter(self._pages))))

    def _fetch_page(self, url: str, accept: str) -> IndexPage | IndexRefusal:
        answer = self._fetcher.fetch(
            _add_login(url, self._logins),
            most_bytes=_PAGE_BYTES,
            seconds=_PAGE_SECONDS,
            accept=accept,
        )
        try:
            _check_status(answer)
            return parse_page(
                answer.content,
                answer.headers.get('content-type', ''),
                _add_login(url, self._logins),
            )
        except IndexRefusal as error:
            return error
        except InvalidIndexPage as error:
            raise Transient(f'the package index answers with no page of files: {error}') from error

    def _fetch_part_or_cache_file(
        self, file: IndexFile, part: tuple[int, int] | None
    ) -> FetchAnswer | None:
        """Fetch a part of a file and return it, or the whole file into the cache: None.

        The latter happens without `part`, and if the server ignores it.

        part  its first and last byte
        """
        path = self._locate_file(file)
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix='.new-') as new:
            answer = self._fetcher.fetch(
                _add_login(file.url, self._logins),
                most_bytes=_FILE_BYTES,
                seconds=_FILE_SECONDS,
                into=new,
                part=part,
            )
            if part is not None and answer.status == 206:
                return answer
            _check_status(answer)
            new.seek(0)
            _check_digest(hashlib.file_digest(new, 'sha256').hexdigest(), file.sha256)
            os.fchmod(new.fileno(), 0o644)
            with suppress(FileExistsError):
                os.link(new.name, path)
        return None

    def _measure_size(self, file: IndexFile) -> int:
        answer = self._fetch_part_or_cache_file(file, (0, 0))
        if answer is None:
            return self._locate_file(file).stat().st_size
        range_match = _TOTAL.fullmatch(answer.headers.get('content-range', ''))
        if range_match is None:
            raise Transient('the package index does not say how long a file is')
        return int(range_match[3])

    def _locate_file(self, file: IndexFile) -> Path:
        return join_beneath(self._home, 'files', file.sha256 or f'url-{_hash_text(file.url)}').path


@functools.cache
def get_machine_index() -> PackageIndex:
    """Return the one object for the indexes configured for this machine's uv.

    Raises:
        Fatal: coevo cannot access them
    """
    return PackageIndex(uv.load_index_sources(), find_cache_folder() / 'pythons/index')


def _weigh_page(kept: _CachedPage | None) -> int:
    return (
        0
        if kept is None or isinstance(kept.page, IndexRefusal)
        else len(kept.page.content) * _WEIGHT
    )


def _check_status(answer: FetchAnswer) -> None:
    if not answer.is_found:
        raise IndexRefusal(answer.status if answer.status >= 400 else 404)


def _check_digest(digest: str, wanted: str | None) -> None:
    if wanted and digest != wanted:
        raise Transient('the package index sends another file than its page names')


def _write_cached(place: Path, content: bytes) -> None:
    """Write a file of the cache completely or not at all, unless it is there already.

    After a power failure it may be lost.
    """
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix='.new-') as new:
        new.write(content)
        new.flush()
        os.fchmod(new.fileno(), 0o644)
        with suppress(FileExistsError):
            os.link(new.name, place)


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _make_metadata_url(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path=f'{parts.path}.metadata').geturl()


def _add_login(url: str, logins: Mapping[str, str]) -> str:
    """Return an address with the credentials known for its host, unless it has some already."""
    parts = urlsplit(url)
    if '@' in parts.netloc:
        return url
    login = logins.get(parts.hostname or '')
    return parts._replace(netloc=f'{login}@{parts.netloc}').geturl() if login else url


def _load_logins() -> dict[str, str]:
    """Return the credentials in ~/.netrc or $NETRC by host, as uv uses them; {} without any."""
    try:
        known = netrc(os.environ.get('NETRC')).hosts
    except (OSError, NetrcParseError):
        return {}
    return {
        host: f'{quote(user, safe="")}:{quote(password, safe="")}'
        for host, (user, _, password) in known.items()
    }
