"""Read and write pages of a package index: the JSON of PEP 691, else the HTML of PEP 503.

A written page refers only to itself: each file is named relative to the page (`six-1.0.whl`). The
real address of a file is known only to the reader of the original page.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

JSON_TYPE = 'application/vnd.pypi.simple.v1+json'
HTML_TYPE = 'text/html'
ACCEPT = f'{JSON_TYPE}, application/vnd.pypi.simple.v1+html;q=0.2, {HTML_TYPE};q=0.01'

_SHA256 = re.compile('[0-9a-f]{64}')
_METADATA_KEYS = ('core-metadata', 'dist-info-metadata', 'data-dist-info-metadata')
_LONGEST_NAME = 255
# Attributes of a link in HTML and their names in JSON.
_ATTRIBUTES = {
    'data-requires-python': 'requires-python',
    'data-yanked': 'yanked',
    'data-core-metadata': 'core-metadata',
    'data-dist-info-metadata': 'data-dist-info-metadata',
}


class InvalidIndexPage(ValueError):
    """Raised when the answer of an index cannot be parsed or has no list of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile:
    """A file that a page of a package index names.

    name             as the index names it; not a path of the host
    url              its real address, with the credentials of the page on the same server
    sha256           of its content, if the page gives it
    size             in bytes, if the page gives it
    metadata_sha256  of the file `URL.metadata` (PEP 658); empty if the page does not give it
    has_metadata     whether that file exists
    uploaded         upload time, as the page gives it (PEP 700)
    python           the versions of Python that it requires, as specifiers; '' for all
    yanked           whether it was withdrawn
    """

    name: str
    url: str
    sha256: str | None = None
    size: int | None = None
    has_metadata: bool = False
    metadata_sha256: str = ''
    uploaded: str = ''
    python: str = ''
    yanked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPage:
    """A page of a package index: the files of a project.

    content  the page as JSON for a job, with addresses relative to the page
    files    by name
    """

    content: bytes = b''
    files: Mapping[str, IndexFile] = field(default_factory=dict)


def parse_page(content: bytes, kind: str, url: str) -> IndexPage:
    """Parse a page of an index from JSON or HTML.

    Invalid rows are left out; of several files with one name, the first is kept.

    kind  the content type of the page; anything but JSON is parsed as HTML
    url   the address of the page, which may contain credentials

    Raises:
        InvalidIndexPage: it has no list of files
    """
    text = content.decode(errors='replace')
    try:
        page = (
            json.loads(text)
            if kind.partition(';')[0].strip().endswith('json')
            else _parse_html(text)
        )
    except (ValueError, RecursionError) as error:
        raise InvalidIndexPage(str(error)) from None
    if not isinstance(page, dict) or not isinstance(page.get('files'), list):
        raise InvalidIndexPage('the page has no list of files')
    files: dict[str, IndexFile] = {}
    rows = []
    login = urlsplit(url).netloc.rpartition('@')[0]
    for row in page['files']:
        file = _parse_file_row(row, url, login)
        if file is not None and file.name not in files:
            files[file.name] = file
            rows.append({**row, 'url': quote(file.name)})
    return IndexPage(content=_serialise_page({**page, 'files': rows}), files=files)


def render_links(page: IndexPage) -> bytes:
    """Return the page as HTML with links alone, like a list of files outside of an index.

    A link has the hash and the required Python of its file, if known.
    """
    lines = []
    for file in page.files.values():
        digest = f'#sha256={file.sha256}' if file.sha256 else ''
        python = f' data-requires-python="{html.escape(file.python)}"' if file.python else ''
        lines.append(
            f'<a href="{quote(file.name)}{digest}"{python}>{html.escape(file.name)}</a><br>'
        )
    return '\n'.join(('<!DOCTYPE html><html><body>', *lines, '</body></html>')).encode()


def _serialise_page(page: Mapping[str, Any]) -> bytes:
    return json.dumps(page, separators=(',', ':')).encode()


def _parse_file_row(row: object, page: str, login: str) -> IndexFile | None:
    """Return a file; None for a row without a valid file name and address.

    page, login  the address of the page, and the credentials in it
    """
    if not isinstance(row, dict):
        return None
    name, address = row.get('filename'), row.get('url')
    if not isinstance(name, str) or not isinstance(address, str):
        return None
    if (
        not name
        or '/' in name
        or '\0' in name
        or len(name) > _LONGEST_NAME
        or not _is_encodable(name)
    ):
        return None
    url = _resolve_address(address, page, login)
    if url is None:
        return None
    metadata = next((row[key] for key in _METADATA_KEYS if row.get(key)), None)
    size = row.get('size')
    return IndexFile(
        name=name,
        url=url,
        sha256=_get_sha256(row.get('hashes')),
        size=size if isinstance(size, int) and size >= 0 else None,
        has_metadata=metadata is not None,
        metadata_sha256=_get_sha256(metadata) or '',
        uploaded=str(row.get('upload-time') or ''),
        python=str(row.get('requires-python') or ''),
        yanked=bool(row.get('yanked')),
    )


def _is_encodable(name: str) -> bool:
    """Return whether a name can be encoded: JSON may hold lone surrogates, an address may not."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _resolve_address(place: str, page: str, login: str) -> str | None:
    """Return the absolute address of a file; None if it is invalid.

    If the file is on the server of the page, the address gets the page's credentials.

    place  the address as the page gives it
    page   the address of the page
    login  the credentials in it, or ''
    """
    try:
        url = place if place.startswith(('https://', 'http://')) else urljoin(page, place)
        parts = urlsplit(url)
        if parts.scheme not in ('http', 'https') or not parts.hostname or not _is_encodable(url):
            return None
    except ValueError:
        return None
    if not login or parts.netloc != urlsplit(page).netloc.rpartition('@')[2]:
        return url
    return parts._replace(netloc=f'{login}@{parts.netloc}').geturl()


def _get_sha256(hashes: object) -> str | None:
    digest = hashes.get('sha256') if isinstance(hashes, dict) else None
    return digest if isinstance(digest, str) and _SHA256.fullmatch(digest) else None


def _parse_html(text: str) -> dict[str, Any]:
    links = _LinkCollector()
    links.feed(text)
    links.close()
    return {'meta': {'api-version': '1.0'}, 'files': list(_make_rows(links.links))}


def _make_rows(links: Iterable[Mapping[str, str | None]]) -> Iterator[dict[str, Any]]:
    for link in links:
        address, _, fragment = (link.get('href') or '').partition('#')
        kind, _, digest = fragment.partition('=')
        row: dict[str, Any] = {
            'filename': unquote(urlsplit(address).path.rpartition('/')[2]),
            'url': address,
            'hashes': {kind: digest} if digest else {},
        }
        for attribute, key in _ATTRIBUTES.items():
            if attribute in link:
                row[key] = _convert_attribute(key, link[attribute] or '')
        yield row


def _convert_attribute(key: str, text: str) -> object:
    if key == 'yanked':
        return text or True
    if not key.endswith('metadata'):
        return text
    kind, _, digest = text.partition('=')
    return {kind: digest} if digest else text == 'true'


class _LinkCollector(HTMLParser):
    """A parser that collects the attributes of all links; `<base>` is ignored."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a link; called by HTMLParser."""
        if tag == 'a':
            self.links.append(dict(attrs))
