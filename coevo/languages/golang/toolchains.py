"""Finds the Go toolchains of this machine, and runs the go command on the host."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from pathlib import Path

from coevo.model.errors import Transient
from coevo.storage.disk import find_cache_folder
from coevo.storage.fetching import retry

# Finds the Go toolchains of this machine, and the language levels of dates.

# Read-only: the tree of a cell, coevo's program, replacements for files of the standard library,
# compiled packages of the compiler and of the standard library, downloaded modules, a Go that is
# not the system's own.
TREE_FILE, PROGRAM, OVERLAY = '/in/tree', '/in/program', '/in/overlay'
CACHES = ('/in/cache/own', '/in/cache/std')
MODULES, TOOLCHAIN = '/in/modules', '/sdk/go'
BINARY = '/in/binary'

# Writable, in memory: each tree lies in a folder that ends in the path of its module.
SOURCES = '/w/src'
# The module cache and the cache of compiled packages of one job; they contain links to MODULES and
# CACHES.
OWN_MODULES, OWN_CACHE = '/w/modules', '/w/cache'


# If set, only listed toolchains may be used: GOROOTs or releases, such as `1.26:/opt/go`.
LIMIT = 'COEVO_GOS'

# Coevo's program is written for it, and the text of the standard library is known since then.
OLDEST = (1, 21)

# The release date of each language level (https://go.dev/doc/devel/release).
RELEASED = {
    11: date(2018, 8, 24),
    12: date(2019, 2, 25),
    13: date(2019, 9, 3),
    14: date(2020, 2, 25),
    15: date(2020, 8, 11),
    16: date(2021, 2, 16),
    17: date(2021, 8, 16),
    18: date(2022, 3, 15),
    19: date(2022, 8, 2),
    20: date(2023, 2, 1),
    21: date(2023, 8, 8),
    22: date(2024, 2, 6),
    23: date(2024, 8, 13),
    24: date(2025, 2, 11),
    25: date(2025, 8, 12),
    26: date(2026, 2, 10),
}
_FIRST = 11  # the first with modules; older code is treated as if it were of this level

_FOLDERS = ('/usr/local', '/usr/lib', '/opt', '~/sdk')
_VERSION = re.compile(r'^go(\d+\.\d+(?:\.\d+)?)\b')


@dataclass(frozen=True, slots=True, kw_only=True)
class GoToolchain:
    """A Go toolchain.

    home     its GOROOT
    version  such as 1.26.8
    """

    home: Path
    version: str

    @property
    def release(self) -> str:
        """The release, such as 1.26."""
        return '.'.join(self.version.split('.')[:2])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the version, such as (1, 26, 8)."""
        return parse_numbers(self.version)

    @property
    def is_downloaded(self) -> bool:
        """True if coevo downloaded it, so that it is not the machine's own."""
        return self.home.is_relative_to(locate_module_cache())

    @property
    def program(self) -> Path:
        """The path of the go command."""
        return self.home / 'bin' / 'go'

    @property
    def home_in_sandbox(self) -> str:
        """Its GOROOT in the sandbox: `/sdk/go`, or the path outside for one of the system."""
        own = Path('/usr')
        is_system = self.home.is_relative_to(own) and not self.home.is_relative_to(own / 'local')
        return str(self.home) if is_system else TOOLCHAIN

    def __str__(self) -> str:
        return f'{self.release:<6}{self.version:<12}{self.home}'


def parse_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: (1, 26, 8) for 1.26.8.

    Parts that are not numbers are skipped; only the last nine digits of a long number count.
    """
    return tuple(int(part[-9:]) for part in re.findall(r'\d+', version)[:3])


def locate_module_cache() -> Path:
    """Return the folder of downloaded modules and toolchains, which all users can read."""
    return find_cache_folder() / 'go' / 'modules'


def find_toolchains(environment: Mapping[str, str] = os.environ) -> tuple[GoToolchain, ...]:
    """Return all usable Go toolchains of this machine, each once.

    They are those of GOROOT and PATH, those at usual places, and those that coevo downloaded.
    Toolchains older than 1.21 are left out, and those that the variable COEVO_GOS does not list if
    it is set.
    """
    toolchains: dict[Path, GoToolchain] = {}
    for home in _list_homes(environment):
        known = load_toolchain(home.resolve())
        if known is not None and known.numbers >= OLDEST:
            toolchains.setdefault(known.home, known)
    wanted = [text for text in environment.get(LIMIT, '').split(os.pathsep) if text]
    return tuple(
        toolchain
        for toolchain in toolchains.values()
        if not wanted or _is_allowed(toolchain, wanted)
    )


@cache
def load_toolchain(home: Path) -> GoToolchain | None:
    """Return the toolchain in a folder; None if there is no go command of a released version.

    The version is read from the file VERSION; nothing is run.
    """
    file = home / 'VERSION'
    if not (home / 'bin' / 'go').is_file() or not file.is_file():
        return None
    match = _VERSION.match(file.read_text(errors='replace'))
    return GoToolchain(home=home, version=match[1]) if match else None


def select_toolchains_of_version(
    version: str, known: Iterable[GoToolchain]
) -> tuple[GoToolchain, ...]:
    """Return the toolchains with a version; failing that, those of its release, if any.

    All are returned if the version is ''.
    """
    every = tuple(known)
    if not version:
        return every
    near = tuple(
        toolchain for toolchain in every if toolchain.numbers[:2] == parse_numbers(version)[:2]
    )
    return tuple(toolchain for toolchain in near if toolchain.version == version) or near


def find_language_level_at(day: date | None) -> str:
    """Return the newest language level that was released by a day, such as `1.24`.

    For a tree that does not declare one. `1.11`, the oldest with modules, if the day is None or
    older.
    """
    then = [minor for minor, released in RELEASED.items() if day is not None and released <= day]
    return f'1.{max(then, default=_FIRST)}'


def _list_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get('GOROOT'):
        yield Path(environment['GOROOT'])
    program = shutil.which('go', path=environment.get('PATH', os.defpath))
    if program is not None:
        yield Path(program).resolve().parent.parent
    for folder in _FOLDERS:
        parent = Path(folder.replace('~', environment.get('HOME', '/nonexistent')))
        yield from sorted(parent.glob('go*'))
    yield from sorted((locate_module_cache() / 'golang.org').glob('toolchain@*'))


def _is_allowed(one: GoToolchain, wanted: list[str]) -> bool:
    return any(
        text in (one.release, one.version) or Path(text).resolve() == one.home for text in wanted
    )


# Runs the go command on the host, to read the machine's settings and to install toolchains.
#
# It reads no file of a repository and is passed no text from one. Everything that reads a
# repository runs in the sandbox (`projects.py`, `compiler.py`).

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
