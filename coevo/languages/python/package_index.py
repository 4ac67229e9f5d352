"""The index that this machine's uv asks, read for source distributions: the JSON of PEP 691."""

from __future__ import annotations

import functools
import json
import re
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote
from urllib.parse import urljoin
from urllib.parse import urlsplit
from urllib.parse import urlunsplit

from coevo.languages.python import uv
from coevo.languages.python.interpreter_choice import Feature
from coevo.languages.python.interpreter_choice import allows
from coevo.model.errors import Transient

_ACCEPT = 'application/vnd.pypi.simple.v1+json'
_SECONDS, _TRIES, _PAUSE = 120, 4, 2.0
_MOST_BYTES = 256 << 20
_FINAL = re.compile(r'(?P<name>.+?)-v?(?P<version>\d+(\.\d+)*(\.post\d+)?)(\.tar\.gz|\.zip)')


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceArchive:
    """A source distribution of a final release."""

    file: str
    url: str
    sha256: str
    version: tuple[int, ...]
    uploaded: datetime
    python: str


def source_archives(name: str, before: datetime, feature: Feature) -> tuple[SourceArchive, ...]:
    """Those of a package that had been uploaded by then, the newest release first."""
    found = [
        one for one in _archives(name) if one.uploaded <= before and allows(one.python, feature)
    ]
    return tuple(sorted(found, key=lambda one: (one.version, one.file), reverse=True))


def fetch(archive: SourceArchive) -> bytes:
    return _get(archive.url, '*/*')


def _archives(name: str) -> Iterator[SourceArchive]:
    place = f'{_index().rstrip("/")}/{name}/'
    try:
        files = json.loads(_get(place, _ACCEPT))['files']
    except (ValueError, KeyError, TypeError):
        return
    for file in files:
        found = _FINAL.fullmatch(str(file.get('filename')))
        if found is not None and not file.get('yanked') and _is_whole(file):
            yield SourceArchive(
                file=file['filename'],
                url=urljoin(place, file['url']),
                sha256=file['hashes']['sha256'],
                version=tuple(map(int, re.findall(r'\d+', found['version']))),
                uploaded=datetime.fromisoformat(file['upload-time']),
                python=file.get('requires-python') or '',
            )


def _is_whole(file: dict[str, Any]) -> bool:
    """Whether an index tells all that is needed; dates are an addition of PEP 700."""
    return bool(
        file.get('url') and file.get('upload-time') and file.get('hashes', {}).get('sha256')
    )


@functools.cache
def _index() -> str:
    return uv.index_url()


def _get(url: str, accept: str) -> bytes:
    place = urlsplit(url)
    login, _, host = place.netloc.rpartition('@')
    headers = {'Accept': accept, 'User-Agent': 'coevo'}
    if login:
        headers['Authorization'] = f'Basic {b64encode(unquote(login).encode()).decode()}'
    request = urllib.request.Request(urlunsplit(place._replace(netloc=host)), headers=headers)
    for number in range(_TRIES):
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return bytes(answer.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                return b''
            trouble: Exception = error
        except OSError as error:
            trouble = error
        time.sleep(_PAUSE * 2**number)
    raise Transient(f'the package index cannot be asked: {trouble}')
