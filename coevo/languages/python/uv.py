"""The package installer uv: requirements made a list of exact versions, and installed.

uv asks the index that this machine's own configuration names. It is never let build anything here, so
that no foreign code runs outside of a sandbox (`--no-build`): what has no wheel is the business of
`wheels.py`.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.storage.folders import cache_folder

_SECONDS = 1800
# A machine's own certificate store knows what its network needs; uv's own list does not.
TRUST = {'UV_SYSTEM_CERTS': 'true', 'UV_NATIVE_TLS': 'true'}
_TRIES, _PAUSE = 4, 2.0
_PINS = 'pins.txt'

# What says that a network, not a project, is at fault.
_TROUBLE = re.compile(
    r'error sending request|timed out|[Cc]onnection (reset|refused|closed)|dns error|50[0234] '
    r'|Request failed after|[Cc]ould not connect|[Nn]etwork is unreachable'
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why uv did not do it, in its words."""

    said: str


def program() -> str:
    """Where uv is: installed beside coevo, made by `make setup`, or on PATH; Fatal without it."""
    try:
        found = str(importlib.import_module('uv').find_uv_bin())
    except (ImportError, OSError):
        local = Path(sys.prefix).parent / '.tools/bin/uv'
        found = str(local) if local.is_file() else shutil.which('uv') or ''
    if not found:
        raise Fatal('uv was not found; install it (pip install uv) and run again')
    return found


def resolved(
    requirements: Sequence[str],
    interpreter: Path,
    before: datetime,
    apart: Mapping[str, datetime],
    wheels: Path | None = None,
    pins: Sequence[str] = (),
) -> str | Refused:
    """Lines of NAME==VERSION with their hashes, sorted by name.

    before  what was uploaded later is not seen, but for some names, which have dates of their own
    wheels  a folder of wheels that are seen beside the index
    pins    versions of what is needed, whoever needs it
    """
    words = ['pip', 'compile', '-', *_common(interpreter)]
    words += ['--generate-hashes', '--no-annotate', '--no-header']
    words += ['--exclude-newer', _stamp(before)]
    for name, date in sorted(apart.items()):
        words += ['--exclude-newer-package', f'{name}={_stamp(date)}']
    if wheels is not None:
        words += ['--find-links', str(wheels)]
    if pins:
        words += ['--constraints', _PINS]
    return _asked(words, '\n'.join(requirements), {_PINS: '\n'.join(pins)})


def version() -> str:
    """`uv 0.13.9`"""
    done = subprocess.run([program(), '--version'], capture_output=True, text=True, check=True)
    return ' '.join(done.stdout.split()[:2])


def index_url() -> str:
    """The index that uv asks first."""
    said = _asked(('pip', 'compile', '-', '--emit-index-url', '--no-header', '--no-build'), '')
    found = re.search(r'--index-url (\S+)', said) if isinstance(said, str) else None
    if found is None:
        raise Fatal('uv does not say which package index it asks; set one in its configuration')
    return found[1]


def install(locked: str, interpreter: Path, target: Path, wheels: Path | None) -> Refused | None:
    """Put what a list names into a folder, checked against its hashes."""
    words = [
        'pip',
        'install',
        '-r',
        '-',
        '--target',
        str(target),
        '--no-deps',
        *_common(interpreter),
    ]
    words += ['--require-hashes', '--link-mode', 'hardlink']
    if wheels is not None:
        words += ['--find-links', str(wheels)]
    done = _asked(words, locked)
    return done if isinstance(done, Refused) else None


def _common(interpreter: Path) -> Iterator[str]:
    yield from ('--python', str(interpreter), '--no-build', '--no-progress', '--color', 'never')


def _stamp(date: datetime) -> str:
    return date.strftime('%Y-%m-%dT%H:%M:%SZ')


def _asked(
    words: Sequence[str], text: str, files: Mapping[str, str] | None = None
) -> str | Refused:
    """What uv writes, in a folder with some files; trouble of the network is tried again, then ours."""
    for number in range(_TRIES):
        with tempfile.TemporaryDirectory(prefix='coevo-uv-') as folder:
            for name, content in (files or {}).items():
                Path(folder, name).write_text(content)
            done = subprocess.run(
                [program(), *words],
                input=text,
                capture_output=True,
                text=True,
                cwd=folder,
                timeout=_SECONDS,
                env={**TRUST, **os.environ, 'UV_CACHE_DIR': str(cache_folder() / 'uv')},
                check=False,
            )
        if not done.returncode:
            return done.stdout
        if not _TROUBLE.search(done.stderr):
            return Refused(done.stderr)
        time.sleep(_PAUSE * 2**number)
    raise Transient(f'uv cannot reach the package index:\n{done.stderr[-1000:]}')
