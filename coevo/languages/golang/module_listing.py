"""Finds the modules that a tree needs, and serves them as the module proxy would have on a given
day.

The go command does so in a sandbox whose only network is coevo's module proxy.
"""

from __future__ import annotations

import base64
import bisect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from coevo.languages.core.test_processes import send_order_parts
from coevo.languages.golang.launch import MODULE_FLAGS, make_listing_job
from coevo.languages.golang.module_store import ModuleStore, parse_proxy_path
from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.golang.toolchains import MODULES, OWN_MODULES, SOURCES, GoSettings
from coevo.model.errors import Transient
from coevo.sandboxes.read_only_proxy import NOT_THERE, ProxyAnswer, RunningProxy, serve_job
from coevo.sandboxes.sandbox import Process, Sandbox
from coevo.storage.beneath import UnsafePath

# Serves modules to a sandboxed go command as the machine's module proxy would have on a given day.
#
# Where no version is required, nothing newer than that day is offered. The go command has no such
# option, so lists and latest versions are computed here (https://go.dev/ref/mod#goproxy-protocol).
# The files of a version come from the machine's proxy. Requests to the checksum database are passed
# through.

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


# Finds the modules that a tree needs.

# A go.sum of 100,000 lines has 10 MiB.
_MOST_BYTES = 128 << 20
_LENGTH_BYTES = 32
_ROOT = f'{SOURCES}/tree'
# Lines with a path and a version, or with the path of a package that cannot be loaded.
_FORMAT = (
    '{{if .Error}}{{.ImportPath}}{{else}}'
    '{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}{{end}}'
)
_DOWNLOADING = 'go: downloading'
# The failure of a module whose listing exceeds its limits. Untrusted text is to blame for that.
_EXCEEDED = {'cpu': 'listing_exceeds_cpu', 'memory': 'listing_exceeds_memory'}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModule:
    """A module with its completed go.mod and go.sum, and what it imports; or why it has none.

    modules  path and version of each module from which packages are imported
    lacking  the paths of packages that cannot be loaded
    failure  why it cannot be listed, in the first words of the go command; None if it can
    """

    go_mod: bytes = b''
    go_sum: bytes = b''
    modules: tuple[tuple[str, str], ...] = ()
    lacking: frozenset[str] = frozenset()
    failure: str | None = None


class ModuleLister:
    """Lists the modules that trees need; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, settings: GoSettings) -> None:
        self._sandbox, self._settings = sandbox, settings
        self._store = ModuleStore(settings.proxies)

    def download_and_list_modules(
        self,
        made: PreparedToolchain,
        tree: Path,
        folders: Sequence[str],
        when: datetime | None,
        flags: str = MODULE_FLAGS,
    ) -> dict[str, ListedModule]:
        """Download the modules that packages and their tests import; return a result per folder.

        The go command runs in the sandbox. Each downloaded module whose hash go.sum has is
        unpacked.

        tree     an archive
        folders  the folders of modules below its root
        when     where no version is required, nothing newer is used; None for now
        flags    GOFLAGS of the go command

        Raises:
            Transient: the network or the sandbox failed.
        """
        proxy = ModuleProxy(
            store=self._store,
            dates=DatedVersions(self._store, when),
            settings=self._settings,
        )
        with (
            self._sandbox.start(make_listing_job(made)) as process,
            serve_job(process, proxy.answer_request) as served,
        ):
            variables = {**self._settings.variables, 'GOFLAGS': flags}
            _send_order(process, tree, folders, served, variables)
            rows = _receive_rows(process)
            served.raise_trouble_if_any()
            if rows is None:
                return dict.fromkeys(
                    folders, ListedModule(failure=_kill_and_explain_or_raise(process))
                )
            listed = dict(_parse_modules(rows, folders, served.url))
        for module in listed.values():
            for path, version, digest in parse_hashes(module.go_sum):
                self._store.unpack_module(path, version, digest.__eq__)
        return listed


def parse_hashes(go_sum: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield path, version and hash of each line of a go.sum, without the lines for go.mod files."""
    for line in go_sum.decode(errors='replace').splitlines():
        words = line.split()
        if len(words) == 3 and not words[1].endswith('/go.mod'):
            yield words[0], words[1], words[2]


def _send_order(
    process: Process,
    tree: Path,
    folders: Sequence[str],
    served: RunningProxy,
    variables: Mapping[str, str],
) -> None:
    archive = tree.read_bytes()
    order = {
        'Size': len(archive),
        'Root': _ROOT,
        'Modules': list(folders),
        'Borrowed': MODULES,
        'Format': _FORMAT,
        'Variables': {
            **variables,
            'GOPROXY': served.url,
            'GOMODCACHE': OWN_MODULES,
            'GOVCS': '*:off',
        },
    }
    send_order_parts(process, json.dumps(order).encode() + b'\n', archive)


def _receive_rows(process: Process) -> Sequence[Mapping[str, Any]] | None:
    """Return the reply of coevo's program; None if there is none or it is malformed."""
    length = process.stdout.readline(_LENGTH_BYTES)
    if not length.strip().isdigit() or int(length) > _MOST_BYTES:
        return None
    try:
        rows: Sequence[Mapping[str, Any]] = json.loads(process.stdout.read(int(length)))
    except ValueError:
        return None
    return rows


def _kill_and_explain_or_raise(process: Process) -> str:
    """Kill a process that did not reply, and return the limit that it exceeded, as a failure.

    Raises:
        Transient: no such limit was exceeded, so the contents of the tree are not to blame.
    """
    process.kill()
    if process.exceeded in _EXCEEDED:
        return _format_failure(_EXCEEDED[process.exceeded])
    raise Transient(
        f'go list did not answer: {process.exceeded or process.get_last_error_output()[-300:].strip()}'
    )


def _parse_modules(
    rows: Sequence[Mapping[str, Any]], folders: Sequence[str], url: str
) -> Iterator[tuple[str, ListedModule]]:
    for folder, row in zip(folders, rows, strict=True):
        if row['Status']:
            yield (
                folder,
                ListedModule(
                    failure=_format_failure(_find_first_complaint_line(row['Complaint'], url))
                ),
            )
            continue
        listed = sorted(set(row['Output'].splitlines()))
        pairs = (line.partition(' ') for line in listed if ' ' in line)
        yield (
            folder,
            ListedModule(
                go_mod=base64.b64decode(row['GoMod'] or ''),
                go_sum=base64.b64decode(row['GoSum'] or ''),
                modules=tuple((path, version) for path, _, version in pairs),
                lacking=frozenset(line for line in listed if line and ' ' not in line),
            ),
        )


def _find_first_complaint_line(complaint: str, url: str) -> str:
    """Return the first line of a complaint of the go command that is not about downloading.

    What differs each time is removed: the address of the proxy and the folder of the tree.
    """
    lines = [line for line in complaint.splitlines() if not line.startswith(_DOWNLOADING)]
    text = ' '.join(lines[:1]).replace(url, '').replace(f'{_ROOT}/', '').replace(_ROOT, '.')
    return text.removeprefix('go: ')


def _format_failure(text: str) -> str:
    return f'modules:{text[:200]}'
