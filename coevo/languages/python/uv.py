"""Find the package installer uv on this machine, and the indexes of its configuration.

On the host, uv reads only the machine's own configuration. Untrusted requirements and packages are
handled by uv in a sandbox (`uv_jobs.py`).
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal, Transient
from coevo.storage.disk import find_cache_folder

_SECONDS = 300
# The network may need certificates of the machine's own store, which uv's built-in list lacks.
TRUST = {'UV_SYSTEM_CERTS': 'true', 'UV_NATIVE_TLS': 'true'}
# The package uv asks `sysconfig`, which gives a second thread wrong answers while a first one fills it.
_ASKING = threading.Lock()
_EMITTED = re.compile(r'^--(index-url|extra-index-url|find-links) (\S.*)$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSources:
    """The places where this machine's uv looks for packages.

    indexes  addresses of package indexes, that of the default index first
    links    addresses of pages with links
    folders  local folders with wheels
    """

    indexes: tuple[str, ...]
    links: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()


def find_program() -> str:
    """Return the path of uv: installed beside coevo, made by `make setup`, or on PATH.

    Raises:
        Fatal: there is none
    """
    try:
        with _ASKING:
            path = str(importlib.import_module('uv').find_uv_bin())
    except (ImportError, OSError):
        local = Path(sys.prefix).parent / '.tools/bin/uv'
        path = str(local) if local.is_file() else shutil.which('uv') or ''
    if not path:
        raise Fatal('uv was not found; install it (pip install uv) and run again')
    return path


def load_version() -> str:
    """Run uv and return its version: `uv 0.13.9`."""
    done = subprocess.run([find_program(), '--version'], capture_output=True, text=True, check=True)
    return ' '.join(done.stdout.split()[:2])


def load_index_sources() -> IndexSources:
    """Run uv and return the places where its configuration makes it look for packages.

    The configuration is its files, else variables, else its default.

    Raises:
        Fatal: it names no index with an HTTP address
        Transient: uv failed or did not answer
    """
    words = ('pip', 'compile', '-', '--emit-index-url', '--emit-find-links', '--no-header')
    with tempfile.TemporaryDirectory(prefix='coevo-uv-') as folder:
        try:
            done = subprocess.run(
                [find_program(), *words, '--no-build', '--color', 'never'],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                cwd=folder,
                timeout=_SECONDS,
                env={**TRUST, **os.environ, 'UV_CACHE_DIR': str(find_cache_folder() / 'uv')},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Transient(f'uv does not read its configuration within {_SECONDS} s') from None
    if done.returncode:
        raise Transient(f'uv cannot use its configuration:\n{done.stderr.strip()[-1000:]}')
    return _parse_sources(done.stdout)


def _parse_sources(said: str) -> IndexSources:
    named: dict[str, list[str]] = {'index-url': [], 'extra-index-url': [], 'find-links': []}
    for kind, address in _EMITTED.findall(said):
        named[kind].append(address.strip())
    others = [*named['extra-index-url'], *named['find-links']]
    indexes = (*named['index-url'], *filter(_is_address, named['extra-index-url']))
    if not indexes or not _is_address(indexes[0]):
        raise Fatal(
            'uv names no package index that is asked by HTTP; set one in its configuration (uv.toml, UV_DEFAULT_INDEX)'
        )
    return IndexSources(
        indexes=indexes,
        links=tuple(filter(_is_address, named['find-links'])),
        folders=tuple(
            Path(address.removeprefix('file://')) for address in others if not _is_address(address)
        ),
    )


def _is_address(place: str) -> bool:
    return place.startswith(('https://', 'http://'))
