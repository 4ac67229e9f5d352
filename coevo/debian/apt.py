"""Run apt with its own lists and cache: look up packages of a suite and download them verified.

It reads apt's configuration (proxies, certificates, keys) and nothing else of the machine's apt. It
changes nothing there and needs no root.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path

from coevo.debian.mirror import DebianSuite
from coevo.model.errors import Fatal, Transient

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
