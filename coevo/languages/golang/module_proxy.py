"""The module proxy that a sandboxed go command asks, as the machine's own proxy was on a day.

Where no version is asked for, nothing newer than the day is offered: the go command has no such option, so that lists
and the latest version are answered here (https://go.dev/ref/mod#goproxy-protocol). Files of a version are those that
the machine's proxy has. The checksum database is passed through.
"""

from __future__ import annotations

import bisect
import json
import re
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from urllib.parse import unquote

from coevo.languages.golang.go_command import GoSettings
from coevo.languages.golang.module_store import ModuleStore, parse_proxy_path
from coevo.sandboxes.read_only_proxy import NOT_THERE, ProxyAnswer
from coevo.storage.beneath import UnsafePath

_LIST = re.compile(r'([^@]+)/@v/list')
_LATEST = re.compile(r'([^@]+)/@latest')
# A version that a go.mod names by a branch, a tag or a commit: the proxy says which one that is.
_QUERY = re.compile(r'[^@]+/@v/[A-Za-z0-9._~!+-]+\.info')
_CLEAN = re.compile(r'[A-Za-z0-9._~!+@/-]+')
_VERSION = re.compile(r'v(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[\w.-]+)?(\+incompatible)?')
_LATER = ProxyAnswer(status=404, body=b'not found: of a later day')


class DatedVersions:
    """Which versions of modules there were on a day, as a proxy tells. None: all that there are now."""

    def __init__(self, store: ModuleStore, when: datetime | None) -> None:
        self._store, self._when = store, when

    def list_versions(self, module: str) -> list[str] | None:
        """Return the versions that were there, oldest first; None for a module that no proxy has.

        Dates are taken to rise with the version.

        Raises: Transient where a proxy cannot be asked.
        """
        listed = self._fetch_versions(module)
        if listed is None or self._when is None:
            return listed
        first_new = bisect.bisect_left(
            listed, True, key=lambda version: not self._is_old(f'{module}/@v/{version}.info')
        )
        return listed[:first_new]

    def find_latest(self, module: str) -> bytes | None:
        """Return what a module is at where no version of it was there; None if a version was, or no proxy has it.

        That is its oldest version, or its newest commit if it has no version: which commits there were on a day no proxy
        tells.

        Raises: Transient where a proxy cannot be asked.
        """
        listed = self._fetch_versions(module)
        if self._when is not None and listed and not self._is_old(f'{module}/@v/{listed[0]}.info'):
            return self._store.fetch_text(f'{module}/@v/{listed[0]}.info', is_kept=True)
        info = self._store.fetch_text(f'{module}/@latest')
        if info is None or not listed or _is_before(info, self._when):
            return info
        return None

    def _fetch_versions(self, module: str) -> list[str] | None:
        listed = self._store.fetch_text(f'{module}/@v/list')
        return None if listed is None else sorted(_parse_versions(listed), key=_make_sort_key)

    def _is_old(self, path: str) -> bool:
        info = self._store.fetch_text(path, is_kept=True)
        return info is None or _is_before(info, self._when)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleProxy:
    """Answers the requests of one job; fulfils `coevo.sandboxes.read_only_proxy.Answering` by `answer_request`."""

    store: ModuleStore
    dates: DatedVersions
    settings: GoSettings

    def answer_request(self, target: str, headers: Message) -> ProxyAnswer:
        """Return what a request's target asks for. Raises: Transient where a proxy cannot be asked."""
        path = unquote(target.partition('?')[0]).lstrip('/')
        if not _CLEAN.fullmatch(path) or '..' in path.split('/'):
            return NOT_THERE
        if path.startswith('sumdb/'):
            return self._answer_checksum(path.removeprefix('sumdb/'))
        if match := _LIST.fullmatch(path):
            versions = self.dates.list_versions(match[1])
            if versions is None:
                return NOT_THERE
            return ProxyAnswer(body=''.join(f'{version}\n' for version in versions).encode())
        if match := _LATEST.fullmatch(path):
            info = self.dates.find_latest(match[1])
            return _LATER if info is None else ProxyAnswer(body=info)
        return self._answer_file(path)

    def _answer_file(self, path: str) -> ProxyAnswer:
        wanted = parse_proxy_path(path)
        if wanted is not None:
            try:
                file = self.store.fetch_file(wanted)
            except UnsafePath:
                return NOT_THERE
            return NOT_THERE if file is None else ProxyAnswer(body=file)
        info = self.store.fetch_text(path) if _QUERY.fullmatch(path) else None
        return NOT_THERE if info is None else ProxyAnswer(body=info)

    def _answer_checksum(self, path: str) -> ProxyAnswer:
        """Answer for the checksum database that this machine trusts, and for no other."""
        name, _, rest = path.partition('/')
        database = self.settings.checksum_database
        if database is None or name != database.name or not rest:
            return NOT_THERE
        if rest == 'supported':
            return ProxyAnswer()
        content = self.store.fetch_checksums(database, rest)
        return NOT_THERE if content is None else ProxyAnswer(body=content)


def _parse_versions(listed: bytes) -> list[str]:
    return [text for text in listed.decode(errors='replace').split() if _CLEAN.fullmatch(text)]


def _is_before(info: bytes, when: datetime | None) -> bool:
    """Whether a version is no newer than a day; one whose date cannot be read is."""
    try:
        text = json.loads(info).get('Time')
        return when is None or text is None or datetime.fromisoformat(text) <= when
    except (ValueError, TypeError, AttributeError, RecursionError):
        return True


def _make_sort_key(version: str) -> tuple[int, int, int, int, str]:
    match = _VERSION.fullmatch(version)
    if match is None:
        return (0, 0, 0, 0, version)
    return (int(match[1]), int(match[2]), int(match[3]), int(match[4] is None), match[4] or '')
