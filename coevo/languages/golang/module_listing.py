"""Finds the modules that a tree needs.

The go command does so in a sandbox whose only network is coevo's module proxy.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from coevo.languages.core.test_processes import send_order_parts
from coevo.languages.golang.go_command import GoSettings
from coevo.languages.golang.launch import MODULE_FLAGS, make_listing_job
from coevo.languages.golang.module_proxy import DatedVersions, ModuleProxy
from coevo.languages.golang.module_store import ModuleStore
from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.golang.toolchains import MODULES, OWN_MODULES, SOURCES
from coevo.model.errors import Transient
from coevo.sandboxes.read_only_proxy import RunningProxy, serve_job
from coevo.sandboxes.sandbox import Process, Sandbox

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
