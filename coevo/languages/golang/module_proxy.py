"""Serves modules to a sandboxed go command as the machine's module proxy would have on a given day.

Where no version is required, nothing newer than that day is offered. The go command has no such
option, so lists and latest versions are computed here (https://go.dev/ref/mod#goproxy-protocol).
The files of a version come from the machine's proxy. Requests to the checksum database are passed
through.
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
# A version that a go.mod names by a branch, a tag or a commit: the proxy resolves it.
_QUERY = re.compile(r'[^@]+/@v/[A-Za-z0-9._~!+-]+\.info')
_CLEAN = re.compile(r'[A-Za-z0-9._~!+@/-]+')
_VERSION = re.compile(r'v(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[\w.-]+)?(\+incompatible)?')
_LATER = ProxyAnswer(status=404, body=b'not found: of a later day')


class DatedVersions:
    """The versions of modules that existed on a day, as far as a proxy knows.

    If the day is None, all present versions count.
    """

    def __init__(self, store: ModuleStore, when: datetime | None) -> None:
        self._store, self._when = store, when

    def list_versions(self, module: str) -> list[str] | None:
        """Return the versions of a module up to the day, oldest first; None if no proxy has it.

        Dates are assumed to rise with the version.

        Raises:
            Transient: a proxy did not reply.
        """
        listed = self._fetch_versions(module)
        if listed is None or self._when is None:
            return listed
        first_new = bisect.bisect_left(
            listed,
            True,
            key=lambda version: not self._did_version_exist_by_day(f'{module}/@v/{version}.info'),
        )
        return listed[:first_new]

    def find_latest_info(self, module: str) -> bytes | None:
        """Return the information (JSON) on the latest version of a module; None if there is none.

        If all versions are newer than the day, that is the oldest version. If there are no
        versions, it is the newest commit, since proxies do not know which commits existed on a day.
        Otherwise it is the latest version, or None if that is newer than the day: then the list has
        older ones. None, too, if no proxy has the module.

        Raises:
            Transient: a proxy did not reply.
        """
        listed = self._fetch_versions(module)
        if (
            self._when is not None
            and listed
            and not self._did_version_exist_by_day(f'{module}/@v/{listed[0]}.info')
        ):
            return self._store.fetch_text(f'{module}/@v/{listed[0]}.info', is_kept_in_memory=True)
        info = self._store.fetch_text(f'{module}/@latest')
        if info is None or not listed or _is_before(info, self._when):
            return info
        return None

    def _fetch_versions(self, module: str) -> list[str] | None:
        listed = self._store.fetch_text(f'{module}/@v/list')
        return None if listed is None else sorted(_parse_versions(listed), key=_make_sort_key)

    def _did_version_exist_by_day(self, path: str) -> bool:
        info = self._store.fetch_text(path, is_kept_in_memory=True)
        return info is None or _is_before(info, self._when)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleProxy:
    """Answers the requests of one sandbox job to a module proxy, with versions up to a day.

    `answer_request` fulfils `coevo.sandboxes.read_only_proxy.Answering`.
    """

    store: ModuleStore
    dates: DatedVersions
    settings: GoSettings

    def answer_request(self, target: str, headers: Message) -> ProxyAnswer:
        """Return the answer to a request; `NOT_THERE` for a path that the protocol does not have.

        target   the path of the request, with a query that is ignored
        headers  not used

        Raises:
            Transient: a proxy did not reply.
        """
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
            info = self.dates.find_latest_info(match[1])
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
        """Answer a request to the checksum database that this machine trusts; refuse any other."""
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
    """Return whether a version is not newer than a moment; True if its date cannot be read.

    info  the information on the version (JSON)
    when  None for now, before which every version is
    """
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
