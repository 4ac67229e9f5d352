"""Supplies the toolchains that a run may use: those of the machine and of the module proxy."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coevo.languages.golang.toolchains import (
    OLDEST,
    RELEASED,
    GoToolchain,
    find_toolchains,
    load_toolchain,
    locate_module_cache,
    parse_numbers,
    run_go,
)
from coevo.languages.runtimes import DoctorFinding
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say, ignore_message

_MODULE = 'golang.org/toolchain'
_PLATFORM = 'linux-amd64'


@dataclass(slots=True)
class GoSupply:
    """The Go toolchains that a run may use; safe for use by several threads.

    It is a `coevo.languages.runtimes.Runtimes`.

    known   the toolchains at hand; a downloaded one is added
    brings  whether releases that the machine lacks are downloaded from the proxy; each is tried
            once
    """

    known: Sequence[GoToolchain] = field(default_factory=find_toolchains)
    brings: bool = False
    say: Say = ignore_message
    _tried: dict[str, GoToolchain | None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def installable(self) -> Sequence[str]:
        """The releases that can be downloaded, oldest first, such as `1.21`."""
        return tuple(f'1.{minor}' for minor in RELEASED if (1, minor) >= OLDEST)

    def try_to_provide(self, version: str) -> bool:
        """Return whether a toolchain of the release of a version is at hand.

        If `brings` is True, a missing one is downloaded; a failure gives False and a message.
        """
        release = '.'.join(version.split('.')[:2])
        return self.find_or_install(release) is not None

    def install(self, release: str) -> GoToolchain:
        """Return the newest toolchain of a release, installed if necessary.

        Raises:
            Fatal: there is no such release.
            Transient: it cannot be downloaded now.
        """
        toolchain = self._find_newest(release)
        if toolchain is None and release not in self.installable:
            raise Fatal(f'there is no Go {release!r}; name one of {", ".join(self.installable)}')
        with self._lock:
            return toolchain or self._download_newest_toolchain(release)

    def find_or_install(self, release: str) -> GoToolchain | None:
        """Return the newest toolchain at hand of a release; failing that, download one if allowed.

        None if it is not allowed (`brings`), the release is too old, or the download fails. A
        failure is reported to the listener, and the release is not tried again.
        """
        toolchain = self._find_newest(release)
        if toolchain is not None or not self.brings or parse_numbers(release)[:2] < OLDEST:
            return toolchain
        with self._lock:
            if release not in self._tried:
                try:
                    self._tried[release] = self._download_newest_toolchain(release)
                except (Fatal, Transient) as error:
                    self.say(
                        f'Go {release} could not be brought ({error}); this run goes on without'
                    )
                    self._tried[release] = None
            return self._tried[release]

    def find_toolchain_for_level(self, wanted: tuple[int, ...]) -> GoToolchain | None:
        """Return a toolchain that knows a language level; None if there is none.

        The newest suitable one of the machine is preferred, then the oldest that was downloaded
        before, then one of the level's own release that is downloaded now. So a download for one
        pair does not change the choice for others.

        wanted  numbers such as (1, 24)
        """
        able = [toolchain for toolchain in self.known if toolchain.numbers >= wanted]
        own = [toolchain for toolchain in able if not toolchain.is_downloaded]
        if own:
            return max(own, key=lambda one: one.numbers)
        if able:
            return min(able, key=lambda one: one.numbers)
        return self.find_or_install(f'{wanted[0]}.{wanted[1]}') if len(wanted) > 1 else None

    def _find_newest(self, release: str) -> GoToolchain | None:
        near = [toolchain for toolchain in self.known if toolchain.release == release]
        return max(near, key=lambda one: one.numbers, default=None)

    def _download_newest_toolchain(self, release: str) -> GoToolchain:
        """Download the newest toolchain of a release by the go command, and add it to `known`.

        The go command itself checks it against the checksum database.

        Raises:
            Fatal: there is no toolchain to do so, or the proxy has no such release.
            Transient: the download failed.
        """
        if not self.known:
            raise Fatal('there is no Go here to fetch another one with; install one (golang-go)')
        host = max(self.known, key=lambda one: one.numbers)
        with tempfile.TemporaryDirectory(prefix='coevo-go-') as name:
            folder = Path(name)
            listed = run_go(host, ('list', '-m', '-versions', _MODULE), folder).split()
            fitting = [
                text
                for text in listed
                if text.endswith(_PLATFORM)
                and parse_numbers(text.partition('-go')[2])[:2] == parse_numbers(release)
            ]
            if not fitting:
                raise Fatal(f'the module proxy has no Go {release}')
            best = max(fitting, key=lambda text: parse_numbers(text.partition('-go')[2]))
            version = best.partition('-go')[2].partition('.linux')[0]
            self.say(f'Go {version} is not here; the module proxy is asked for it')
            message = run_go(host, ('version',), folder, {'GOTOOLCHAIN': f'go{version}'})
        toolchain = load_toolchain(
            (locate_module_cache() / 'golang.org' / f'toolchain@{best}').resolve()
        )
        if toolchain is None:
            raise Transient(
                f'Go {version} could not be fetched; the go command says: {message[-300:]}'
            )
        self.known = (*self.known, toolchain)
        return toolchain


def inspect_machine() -> Iterator[DoctorFinding]:
    """Yield one finding: the versions of Go on this machine, or the advice to install one."""
    known = [toolchain.version for toolchain in find_toolchains()]
    yield DoctorFinding(
        name='Go',
        good=bool(known),
        state=', '.join(known) or 'none of 1.21 or newer',
        advice=None if known else 'install one (apt install golang-go); it fetches others itself',
    )
