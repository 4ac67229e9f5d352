"""The interpreters that a run may use."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from coevo.display.credentials import hidden
from coevo.display.terminal import visible
from coevo.languages.python import uv
from coevo.languages.python.interpreter_choice import RELEASED
from coevo.languages.python.interpreter_choice import Feature
from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.interpreters import brought_folder
from coevo.languages.python.interpreters import find_interpreters
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.model.listener import Say
from coevo.model.listener import silent

_SECONDS = 900
_MOST_SAID = 300
_CAUSE = re.compile('^(cause|Caused by): ')


@dataclass(slots=True)
class PythonSupply:
    """Fulfils `coevo.languages.runtimes.Runtimes`. Safe from several threads.

    brings  whether uv is asked for what the machine lacks, once for each
    """

    known: Sequence[Interpreter] = field(default_factory=find_interpreters)
    brings: bool = False
    say: Say = silent
    _asked: set[Feature] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bringable(self) -> Sequence[str]:
        return tuple(f'{major}.{minor}' for major, minor in RELEASED)

    def has(self, version: str) -> bool:
        return self.get(_feature(version)) is not None

    def bring(self, release: str) -> Interpreter:
        """One of a release; Fatal where there is none such, Transient where uv cannot bring it."""
        if release not in self.bringable:
            raise Fatal(f'there is no Python {release!r}; name one of {", ".join(self.bringable)}')
        feature = _feature(release)
        with self._lock:
            found = self._find(feature)
            if found is None:
                self._bring(feature)
                found = self._find(feature)
        if found is None:
            raise Transient(f'uv could not bring Python {release}')
        return found

    def get(self, feature: Feature) -> Interpreter | None:
        """The machine's, or one that is brought now, if this may be."""
        with self._lock:
            found = self._find(feature)
            if found is None and self.brings and feature not in self._asked:
                self._asked.add(feature)
                self._bring(feature)
                found = self._find(feature)
            return found

    def _find(self, feature: Feature) -> Interpreter | None:
        return next((one for one in self.known if one.feature == feature), None)

    def _bring(self, feature: Feature) -> None:
        name = f'{feature[0]}.{feature[1]}'
        self.say(f'Python {name} is not here; uv is asked for it')
        words = ('python', 'install', name, '--no-bin', '--install-dir', str(brought_folder()))
        try:
            done = subprocess.run(
                [uv.program(), *words],
                capture_output=True,
                timeout=_SECONDS,
                env={**uv.TRUST, **os.environ},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return
        if done.returncode:
            self.say(f'Python {name} could not be brought: {_last_words(done.stderr)}')
        else:
            self.known = find_interpreters()


def _last_words(said: bytes) -> str:
    """Of what uv says is wrong, the innermost cause."""
    *_, last = ['uv does not say why', *filter(None, said.decode(errors='replace').split('\n'))]
    return visible(hidden(_CAUSE.sub('', last.strip())))[:_MOST_SAID]


def _feature(version: str) -> Feature:
    major, _, rest = version.partition('.')
    minor = rest.partition('.')[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def alike(version: str, known: Sequence[Interpreter]) -> Sequence[Interpreter]:
    """That very one, else those of its feature release, else all."""
    same = [one for one in known if one.version == version]
    near = [one for one in known if one.feature == _feature(version)]
    return same or near or known
