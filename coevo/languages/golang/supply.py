"""The toolchains that a run may use: those of the machine, and those that the module proxy has."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from coevo.languages.golang.go_command import ask
from coevo.languages.golang.toolchains import OLDEST
from coevo.languages.golang.toolchains import RELEASED
from coevo.languages.golang.toolchains import GoToolchain
from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.golang.toolchains import module_cache
from coevo.languages.golang.toolchains import numbers
from coevo.languages.golang.toolchains import read_toolchain
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.model.listener import Say
from coevo.model.listener import silent

_MODULE = 'golang.org/toolchain'
_PLATFORM = 'linux-amd64'


@dataclass(slots=True)
class GoSupply:
    """Fulfils `coevo.languages.runtimes.Runtimes`. Safe from several threads.

    brings  whether the proxy is asked for what the machine lacks, once for each
    """

    known: Sequence[GoToolchain] = field(default_factory=find_toolchains)
    brings: bool = False
    say: Say = silent
    _tried: dict[str, GoToolchain | None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bringable(self) -> Sequence[str]:
        return tuple(f'1.{minor}' for minor in RELEASED if (1, minor) >= OLDEST)

    def has(self, version: str) -> bool:
        release = '.'.join(version.split('.')[:2])
        return self.get(release) is not None

    def bring(self, release: str) -> GoToolchain:
        """The newest of a release; Fatal where there is none such, Transient where it cannot be had."""
        found = self._newest(release)
        if found is None and release not in self.bringable:
            raise Fatal(f'there is no Go {release!r}; name one of {", ".join(self.bringable)}')
        with self._lock:
            return found or self._fetch(release)

    def get(self, release: str) -> GoToolchain | None:
        """The machine's, or one that is brought now, if this may be."""
        found = self._newest(release)
        if found is not None or not self.brings or numbers(release)[:2] < OLDEST:
            return found
        with self._lock:
            if release not in self._tried:
                try:
                    self._tried[release] = self._fetch(release)
                except (Fatal, Transient) as error:
                    self.say(
                        f'Go {release} could not be brought ({error}); this run goes on without'
                    )
                    self._tried[release] = None
            return self._tried[release]

    def for_level(self, wanted: tuple[int, ...]) -> GoToolchain | None:
        """The newest of the machine that knows a level; else the oldest such that was brought before, or
        one that is brought now: what was brought for one pair is not to change others. None without any."""
        able = [one for one in self.known if one.numbers >= wanted]
        own = [one for one in able if not one.is_brought]
        if own:
            return max(own, key=lambda one: one.numbers)
        if able:
            return min(able, key=lambda one: one.numbers)
        return self.get(f'{wanted[0]}.{wanted[1]}') if len(wanted) > 1 else None

    def _newest(self, release: str) -> GoToolchain | None:
        near = [one for one in self.known if one.release == release]
        return max(near, key=lambda one: one.numbers, default=None)

    def _fetch(self, release: str) -> GoToolchain:
        """What the proxy has, checked against the checksum database by the go command itself."""
        if not self.known:
            raise Fatal('there is no Go here to fetch another one with; install one (golang-go)')
        host = max(self.known, key=lambda one: one.numbers)
        with tempfile.TemporaryDirectory(prefix='coevo-go-') as name:
            folder = Path(name)
            listed = ask(host, ('list', '-m', '-versions', _MODULE), folder).split()
            fitting = [
                text
                for text in listed
                if text.endswith(_PLATFORM)
                and numbers(text.partition('-go')[2])[:2] == numbers(release)
            ]
            if not fitting:
                raise Fatal(f'the module proxy has no Go {release}')
            best = max(fitting, key=lambda text: numbers(text.partition('-go')[2]))
            version = best.partition('-go')[2].partition('.linux')[0]
            self.say(f'Go {version} is not here; the module proxy is asked for it')
            said = ask(host, ('version',), folder, {'GOTOOLCHAIN': f'go{version}'})
        found = read_toolchain((module_cache() / 'golang.org' / f'toolchain@{best}').resolve())
        if found is None:
            raise Transient(
                f'Go {version} could not be fetched; the go command says: {said[-300:]}'
            )
        self.known = (*self.known, found)
        return found
