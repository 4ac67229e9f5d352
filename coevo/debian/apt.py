"""Run apt with its own lists and cache: look up packages of a suite and download them verified.

It reads apt's configuration (proxies, certificates, keys) and nothing else of the machine's apt. It
changes nothing there and needs no root.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path

from coevo.model.errors import Fatal, Transient

# Debian removes an old runtime from its releases long before it removes it from this suite.
DEVELOPMENT_SUITE = 'sid'

_KEYRINGS = Path('/usr/share/keyrings')
_FORMAT = '$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)\t$(IDENTIFIER)'


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianSuite:
    """A suite of an archive, such as `bookworm` or `sid`, with the components to use."""

    uri: str
    name: str
    components: tuple[str, ...]
    keyring: Path | None  # None: whatever the machine's apt trusts

    @property
    def source(self) -> str:
        """The suite as one line of a `sources.list`."""
        option = f'[signed-by={self.keyring}] ' if self.keyring else ''
        return f'deb {option}{self.uri} {self.name} {" ".join(self.components)}\n'


def list_suites_to_search() -> tuple[DebianSuite, ...]:
    """Return the suites to search, in that order: the machine's release, then Debian's `sid`.

    Machines that do not run Debian have only their own release.

    Raises: Fatal if there is no apt, or if its configuration lacks the distribution's archive.
    """
    release = platform.freedesktop_os_release() if Path('/etc/os-release').exists() else {}
    distribution, codename = release.get('ID', ''), release.get('VERSION_CODENAME', '')
    components_by_uri: dict[str, set[str]] = {}
    for uri, name, component in _list_archives_suites_components():
        if name == codename:
            components_by_uri.setdefault(uri, set()).add(component)
    if not components_by_uri:
        raise Fatal(
            "this machine's apt names no archive of its own distribution; add one to"
            ' /etc/apt/sources.list, or install what is missing by hand'
        )
    uri = min(components_by_uri)
    keyring = _KEYRINGS / f'{distribution}-archive-keyring.gpg'
    own = DebianSuite(
        uri=uri,
        name=codename,
        components=tuple(sorted(components_by_uri[uri])),
        keyring=keyring if keyring.is_file() else None,
    )
    if distribution != 'debian':
        return (own,)
    newer = DebianSuite(uri=uri, name=DEVELOPMENT_SUITE, components=('main',), keyring=own.keyring)
    return (own, newer)


def _list_archives_suites_components() -> Iterator[tuple[str, str, str]]:
    """Yield the archive, suite and component of each package list that apt would fetch.

    Raises: Fatal if there is no apt.
    """
    command = ['apt-get', 'indextargets', '--no-release-info', '--format', _FORMAT]
    try:
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
    except FileNotFoundError:
        raise Fatal(
            'apt-get was not found, and coevo needs it to install runtimes; install the '
            'missing one by hand'
        ) from None
    for line in done.stdout.splitlines():
        uri, name, component, kind = line.split('\t')
        if kind == 'Packages':
            yield uri, name, component


_KIB = 1 << 10
# Parts of apt's messages, in the locale C, about lists for which another try would not help.
_STALE = 'is expired'
_EARLY = 'is not valid yet'
# A line of a simulated installation: `Inst dash (0.5.12-2 Debian:12.11/stable [amd64])`.
_INSTALLED = re.compile(r'^Inst (\S+) \(', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianPackage:
    """A package as a signed package list describes it; sizes in bytes."""

    name: str
    version: str
    sha256: str
    download_bytes: int
    installed_bytes: int


class Apt:
    """The packages of one suite.

    suite   the suite to use
    folder  where apt keeps its lists and cache; it may be removed afterwards
    """

    def __init__(self, suite: DebianSuite, folder: Path) -> None:
        self._suite, self._folder = suite, folder
        for name in ('lists/partial', 'cache/archives/partial'):
            (folder / name).mkdir(parents=True)
        (folder / 'sources.list').write_text(suite.source)
        (folder / 'status').touch()

    def update(self) -> None:
        """Fetch the package lists.

        Raises: Transient if they cannot be fetched or are not signed; Fatal if they are expired or
        not valid yet.
        """
        self._run_apt('apt-get', 'update')

    def find_candidates(self, names: Sequence[str]) -> dict[str, DebianPackage]:
        """Return the newest version of each of these packages, by name.

        Packages that the suite lacks are left out.
        """
        shown = self._run_apt('apt-cache', 'show', '--no-all-versions', *names, tolerated=(0, 100))
        packages = (
            _parse_package(paragraph) for paragraph in shown.split('\n\n') if paragraph.strip()
        )
        return {package.name: package for package in packages}

    def resolve(self, names: Sequence[str]) -> tuple[DebianPackage, ...]:
        """Return these packages with all that they depend on, sorted by name.

        Recommended packages are left out.
        Raises: Transient if apt finds no such set.
        """
        words = ('install', '--simulate', '--no-install-recommends', '--assume-yes')
        planned = self._run_apt('apt-get', *words, *names)
        candidates = self.find_candidates(sorted(set(_INSTALLED.findall(planned))))
        return tuple(candidates[name] for name in sorted(candidates))

    def download(self, packages: Sequence[DebianPackage]) -> tuple[Path, ...]:
        """Download packages and return their files, checked against the signed list.

        Raises: Transient if one cannot be downloaded.
        """
        wanted = [f'{package.name}={package.version}' for package in packages]
        download_folder = self._folder / 'packages'
        download_folder.mkdir()
        self._run_apt('apt-get', 'download', *wanted, folder=download_folder)
        return tuple(sorted(download_folder.glob('*.deb')))

    def _run_apt(
        self,
        *command: str,
        folder: Path | None = None,
        tolerated: Sequence[int] = (0,),
    ) -> str:
        options = [f'--option={name}={value}' for name, value in self._list_options()]
        done = subprocess.run(
            [command[0], '--quiet', *options, *command[1:]],
            check=False,
            cwd=folder or self._folder,
            env={**os.environ, 'LC_ALL': 'C'},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode not in tolerated:
            raise self._make_error(_extract_reason(done))
        return done.stdout

    def _make_error(self, why: str) -> Fatal | Transient:
        """Return the error for a message of apt; Fatal if a retry cannot help (validity times)."""
        suite = self._suite
        if _STALE in why:
            return Fatal(
                f'the mirror {suite.uri} is no longer maintained: its list of {suite.name} is '
                f"out of date ({why}); name another mirror in apt's configuration, or install "
                'what is missing by hand'
            )
        if _EARLY in why:
            return Fatal(
                f"the list of {suite.name} is newer than this machine's clock ({why}); set "
                'the clock'
            )
        return Transient(f'apt could not fetch packages of {suite.name}: {why}')

    def _list_options(self) -> Iterator[tuple[str, str]]:
        yield 'Dir::Etc::sourcelist', str(self._folder / 'sources.list')
        yield 'Dir::Etc::sourceparts', '-'
        yield 'Dir::State', str(self._folder)
        yield 'Dir::State::status', str(self._folder / 'status')
        yield 'Dir::Cache', str(self._folder / 'cache')
        yield 'Acquire::Languages', 'none'
        yield 'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled', 'false'
        yield 'Acquire::Retries', '3'
        yield 'APT::Update::Error-Mode', 'any'
        # apt would download as the user _apt, which cannot enter the folder.
        yield 'APT::Sandbox::User', 'root'


def _parse_package(paragraph: str) -> DebianPackage:
    fields = message_from_string(paragraph)
    return DebianPackage(
        name=fields['Package'],
        version=fields['Version'],
        sha256=fields['SHA256'],
        download_bytes=int(fields['Size']),
        installed_bytes=int(fields['Installed-Size']) * _KIB,
    )


def _extract_reason(done: subprocess.CompletedProcess[str]) -> str:
    """Return apt's first error line, else its last line, else its exit status."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix('E: ') for line in lines if line.startswith('E: ')]
    return (errors or lines[-1:] or [f'status {done.returncode}'])[0]
