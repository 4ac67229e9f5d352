"""Runs the go command on the host, to read the machine's settings and to install toolchains.

It reads no file of a repository and is passed no text from one. Everything that reads a repository
runs in the sandbox (`projects.py`, `compiler.py`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coevo.languages.golang.toolchains import GoToolchain, locate_module_cache
from coevo.model.errors import Transient
from coevo.storage.disk import find_cache_folder
from coevo.storage.fetching import retry

_SECONDS = 1800
_PAUSE = 2.0  # seconds before the next attempt

# Settings of the user that would change the result.
_OURS = ('GOFLAGS', 'GOWORK', 'GOROOT', 'GOBIN', 'GO111MODULE', 'GOOS', 'GOARCH', 'GOEXPERIMENT')

_ASKED = ('GOPROXY', 'GOSUMDB', 'GONOSUMDB')
# The name of a database ends where its key begins; a separate address may follow.
_DATABASE = re.compile(
    r'(?P<name>[A-Za-z0-9][A-Za-z0-9.-]*)(?:\+\S+)?(?:\s+(?P<url>https?://\S+))?'
)
# The go command treats the first as another address of the second.
_MIRRORED = {'sum.golang.google.cn': 'sum.golang.org'}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksumDatabase:
    """A checksum database.

    name  as the go command refers to it
    url   its address, without a slash at the end
    """

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoSettings:
    """The settings of this machine's go command.

    proxies            URLs of module proxies, in order
    checksum_database  None if it is switched off
    variables          of the checksum database, for a go command in the sandbox
    """

    proxies: tuple[str, ...]
    checksum_database: ChecksumDatabase | None
    variables: Mapping[str, str]


def load_machine_go_settings(toolchain: GoToolchain) -> GoSettings:
    """Run `go env` and return the machine's settings, from its environment and from `go env -w`."""
    with tempfile.TemporaryDirectory(prefix='coevo-go-') as folder:
        settings = json.loads(run_go(toolchain, ('env', '-json', *_ASKED), Path(folder)))
    urls = (text.rstrip('/') for text in re.split('[,|]', settings['GOPROXY']))
    return GoSettings(
        proxies=tuple(url for url in urls if url.startswith(('http://', 'https://'))),
        checksum_database=_parse_checksum_database(settings['GOSUMDB']),
        variables={
            'GOSUMDB': settings['GOSUMDB'],
            'GONOSUMDB': settings['GONOSUMDB'],
            'GONOPROXY': 'none',
        },
    )


def _parse_checksum_database(text: str) -> ChecksumDatabase | None:
    match = _DATABASE.fullmatch(text.strip())
    if match is None or match['name'] == 'off':
        return None
    name = match['name']
    url = match['url'] or f'https://{name}'
    return ChecksumDatabase(name=_MIRRORED.get(name, name), url=url.rstrip('/'))


def run_go(
    toolchain: GoToolchain,
    words: Sequence[str],
    folder: Path,
    more: Mapping[str, str] | None = None,
) -> str:
    """Run the go command on the host and return its standard output.

    words   its arguments. They are coevo's own, so a failure is due to the machine or its network
    folder  the working folder, which is empty
    more    further environment variables

    Raises:
        Transient: several attempts failed.
    """
    return retry(partial(_run_once, toolchain, words, folder, more or {}), pause=_PAUSE)


def _run_once(
    toolchain: GoToolchain, words: Sequence[str], folder: Path, more: Mapping[str, str]
) -> str:
    done = subprocess.run(
        [toolchain.program, *words],
        cwd=folder,
        env=_make_go_variables(toolchain, folder, more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding='utf-8',
        errors='replace',
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise Transient(f'go {words[0]} does not work here: {done.stderr.strip()[-1000:]}')
    return done.stdout


def _make_go_variables(
    toolchain: GoToolchain, folder: Path, more: Mapping[str, str]
) -> dict[str, str]:
    locate_module_cache().mkdir(mode=0o755, parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {
        **inherited,
        'PWD': str(folder),
        'GOROOT': str(toolchain.home),
        'GOMODCACHE': str(locate_module_cache()),
        'GOCACHE': str(find_cache_folder() / 'go' / 'listing'),
        'GOFLAGS': '-mod=mod',
        'GOWORK': 'off',
        'GOTOOLCHAIN': 'local',
        'GOVCS': '*:off',
        'CGO_ENABLED': '0',
        **more,
    }
