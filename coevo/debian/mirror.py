"""Find the package archive that this machine's apt uses, and the suites to search in it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal

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


def list_suites() -> tuple[DebianSuite, ...]:
    """Return the suites to search, in that order: the machine's release, then Debian's `sid`.

    Machines that do not run Debian have only their own release.

    Raises: Fatal if there is no apt, or if its configuration lacks the distribution's archive.
    """
    release = platform.freedesktop_os_release() if Path('/etc/os-release').exists() else {}
    distribution, codename = release.get('ID', ''), release.get('VERSION_CODENAME', '')
    components_by_uri: dict[str, set[str]] = {}
    for uri, name, component in _list_index_targets():
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


def _list_index_targets() -> Iterator[tuple[str, str, str]]:
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
