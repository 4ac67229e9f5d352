"""The proxy that a sandboxed uv uses: pages of the configured indexes, and the files they name.

    /simple/N/NAME/            the page of a project in index N
    /simple/N/NAME/FILE        a file of it, whole or in part; FILE.metadata: its metadata file
    /links/N/, /links/N/FILE   the same for a page of links

The job chooses neither host nor address: every name it requests is looked up in a page.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coevo.languages.python.index_pages import (
    HTML_TYPE,
    JSON_TYPE,
    IndexFile,
    IndexPage,
    render_links,
)
from coevo.languages.python.package_index import MOST_PART_BYTES, IndexRefusal, PackageIndex
from coevo.model.errors import Transient
from coevo.sandboxes.read_only_proxy import NOT_THERE, REFUSED, ProxyAnswer

_NUMBER = re.compile('[0-9]{1,3}')
_RANGE = re.compile(r'bytes=(\d{0,18})-(\d{0,18})')
# Limits of one job, as its requests fill the tool cache. An environment of 300 packages takes a few
# thousand requests.
MOST_REQUESTS = 50_000
MOST_BYTES = 12 << 30
_METADATA = '.metadata'
_BYTES = {'Accept-Ranges': 'bytes', 'Content-Type': 'application/octet-stream'}


class IndexProxy:
    """The answers of the proxy to the requests of one job, within limits of requests and bytes.

    After the first transient failure all further requests fail, and the result of the job is no
    verdict.
    """

    def __init__(self, index: PackageIndex) -> None:
        self._index = index
        self._trouble: str | None = None
        self._guard = threading.Lock()
        self._open = self._requests = self._bytes = 0

    @property
    def is_waiting(self) -> bool:
        """True if a request is unanswered; the wait is then not the job's fault."""
        return self._open > 0

    def make_uv_variables(self, url: str, folders: Iterable[str] = ()) -> dict[str, str]:
        """Return the environment variables that make uv use this proxy as its only index.

        url      of the proxy
        folders  further folders with wheels, as the job sees them
        """
        sources = self._index.sources
        indexes = [f'{url}/simple/{number}/' for number in range(len(sources.indexes))]
        links = [*folders, *(f'{url}/links/{number}/' for number in range(len(sources.links)))]
        variables = {
            'UV_DEFAULT_INDEX': indexes[0],
            'UV_EXTRA_INDEX_URL': ' '.join(indexes[1:]),
            'UV_FIND_LINKS': ','.join(links),
        }
        return {name: text for name, text in variables.items() if text}

    def answer_get(self, target: str, headers: Message) -> ProxyAnswer:
        """Answer a GET request with a page or a file. Beyond the limits of the job it is refused.

        Raises:
            Transient: the index failed, now or in an earlier request
        """
        return self._answer_within_limits(target, headers.get('Range'), whole=True)

    def answer_head(self, target: str, _: Message) -> ProxyAnswer:
        """Answer a HEAD request; the size of a file is determined without loading the file.

        Raises:
            Transient: the index failed, now or in an earlier request
        """
        return self._answer_within_limits(target, None, whole=False)

    def _answer_within_limits(self, target: str, part: str | None, *, whole: bool) -> ProxyAnswer:
        if self._trouble is not None:
            raise Transient(self._trouble)
        if self._requests >= MOST_REQUESTS or self._bytes >= MOST_BYTES:
            return REFUSED
        with self._count_open_request():
            answer = self._answer_request(target, part, whole=whole)
        size = answer.body.stat().st_size if isinstance(answer.body, Path) else len(answer.body)
        with self._guard:
            self._requests, self._bytes = self._requests + 1, self._bytes + size
        return answer

    @contextmanager
    def _count_open_request(self) -> Iterator[None]:
        with self._guard:
            self._open += 1
        try:
            yield
        finally:
            with self._guard:
                self._open -= 1

    def _answer_request(self, target: str, part: str | None, *, whole: bool) -> ProxyAnswer:
        try:
            result = self._look_up(_parse_path(target))
            if isinstance(result, ProxyAnswer):
                return result
            if not whole:
                return ProxyAnswer(
                    headers={**_BYTES, 'Content-Length': str(self._index.get_size(result))}
                )
            return self._answer_file(result, part)
        except IndexRefusal as error:
            return ProxyAnswer(status=error.status)
        except Transient as error:
            self._trouble = str(error)
            raise

    def _look_up(self, path: str) -> ProxyAnswer | IndexFile:
        match path.split('/'):
            case ['', 'simple', number, name, file] if self._is_number_below(
                number, len(self._index.sources.indexes)
            ):
                page = self._index.get_page(int(number), name)
                return (
                    self._look_up_in_page(page, file)
                    if file
                    else _make_page_answer(page.content, JSON_TYPE)
                )
            case ['', 'links', number, file] if self._is_number_below(
                number, len(self._index.sources.links)
            ):
                page = self._index.get_links_page(int(number))
                return (
                    self._look_up_in_page(page, file)
                    if file
                    else _make_page_answer(render_links(page), HTML_TYPE)
                )
        return NOT_THERE

    def _look_up_in_page(self, page: IndexPage, file: str) -> ProxyAnswer | IndexFile:
        name = unquote(file)
        if name in page.files:
            return page.files[name]
        wheel = page.files.get(name.removesuffix(_METADATA))
        if wheel is None or not wheel.has_metadata:
            return NOT_THERE
        return ProxyAnswer(body=self._index.fetch_metadata(wheel), headers=_BYTES)

    def _answer_file(self, file: IndexFile, part: str | None) -> ProxyAnswer:
        range_match = _RANGE.fullmatch(part) if part else None
        if range_match is None or not (range_match[1] or range_match[2]):
            return ProxyAnswer(body=self._index.fetch_file(file), headers=_BYTES)
        size = self._index.get_size(file)
        first = int(range_match[1]) if range_match[1] else max(0, size - int(range_match[2]))
        last = min(int(range_match[2]), size - 1) if range_match[1] and range_match[2] else size - 1
        if not first <= last < first + MOST_PART_BYTES:
            return ProxyAnswer(status=416, headers={'Content-Range': f'bytes */{size}'})
        headers = {**_BYTES, 'Content-Range': f'bytes {first}-{last}/{size}'}
        return ProxyAnswer(
            status=206, body=self._index.load_part(file, first, last), headers=headers
        )

    def _is_number_below(self, number: str, count: int) -> bool:
        return bool(_NUMBER.fullmatch(number)) and int(number) < count


def _parse_path(target: str) -> str:
    """Return the path of a request; '' for an invalid address."""
    try:
        return urlsplit(target).path
    except ValueError:
        return ''


def _make_page_answer(content: bytes, kind: str) -> ProxyAnswer:
    return ProxyAnswer(body=content, headers={'Content-Type': kind})
