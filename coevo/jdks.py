"""The JDKs of this machine, found without starting one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.errors import Fatal

PREFERRED = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Jdk:
    """A JDK with a compiler; `version` as its `release` file says, such as 17.0.15."""

    home: Path
    version: str

    @property
    def feature(self) -> int:
        """8, 11, 17, …; 1.8 counts as 8."""
        numbers = [int(part) for part in re.findall(r'\d+', self.version)] or [0]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def find_jdks(environment: Mapping[str, str] = os.environ) -> tuple[Jdk, ...]:
    """Every JDK that the environment, /usr/lib/jvm or PATH leads to, each once, in that order."""
    found: dict[Path, Jdk] = {}
    for home in _homes(environment):
        jdk = _read(home.resolve())
        if jdk is not None:
            found.setdefault(jdk.home, jdk)
    return tuple(found.values())


def choose_jdk(jdks: tuple[Jdk, ...]) -> Jdk:
    """17 if there is one, else the lowest above; the first found of equals."""
    usable = [jdk for jdk in jdks if jdk.feature >= PREFERRED]
    if not usable:
        raise Fatal('no JDK 17 or newer was found; install one (openjdk-17-jdk) or set JAVA_HOME')
    return min(usable, key=lambda jdk: jdk.feature)


def _homes(environment: Mapping[str, str]) -> Iterator[Path]:
    names = sorted(name for name in environment if re.fullmatch(r'JAVA_HOME(_.+)?', name))
    yield from (Path(environment[name]) for name in names if environment[name])
    yield from sorted(Path('/usr/lib/jvm').glob('*'))
    compiler = shutil.which('javac', path=environment.get('PATH', os.defpath))
    if compiler is not None:
        yield Path(compiler).resolve().parent.parent


def _read(home: Path) -> Jdk | None:
    release = home / 'release'
    if not (home / 'bin' / 'javac').is_file() or not release.is_file():
        return None
    text = release.read_text(errors='replace')
    match = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return Jdk(home=home, version=match[1]) if match else None
