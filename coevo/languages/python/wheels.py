"""Wheels of packages that have none: a source distribution is built in the sandbox, without network.

What the build needs comes as wheels, of a date at which setuptools had what PEP 517 asks for, and still
had what old packages ask of it (`setuptools.Feature`, gone in 46).
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import tomllib
import zipfile
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any

from coevo.languages.python import uv
from coevo.languages.python.environments import Installed
from coevo.languages.python.environments import installed
from coevo.languages.python.interpreter_choice import meets
from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.launch import wheel_job
from coevo.languages.python.package_index import SourceArchive
from coevo.languages.python.package_index import fetch
from coevo.languages.python.package_index import source_archives
from coevo.languages.python.requirements.stated import name_of
from coevo.languages.python.resolution import Locked
from coevo.languages.python.resolution import Unresolved
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage import durable
from coevo.storage.folders import cache_folder

NO_WHEEL, NEEDS_COMPILER, NO_SOURCE = 'no_wheel', 'needs_compiler', 'no_source'

# The first day on which setuptools could build what names no backend (40.8.0).
EARLIEST = datetime(2019, 3, 1, tzinfo=UTC)
_LEGACY = 'setuptools.build_meta:__legacy__'
_TEXT_BYTES = 1 << 20
_WHEEL_BYTES = 128 << 20
_COMPILER = re.compile(
    r"(gcc|cc|clang|c\+\+|g\+\+)['\"]? (failed|: No such)|command '[\w.-]*(gcc|cc)'|Python\.h"
)
# What old packages have setuptools fetch while they are built (`setup_requires`).
_PLUGINS = ('pbr', 'setuptools_scm', 'pytest-runner', 'vcversioner', 'cffi')
_NAME = re.compile(r'[\w.+!-]+\.whl')


class WheelMaker:
    """Of one set of requirements; `folder` is its own, and holds what was made for it."""

    def __init__(self, sandbox: Sandbox, programs: Path, folder: Path) -> None:
        self._sandbox, self._programs, self._folder = sandbox, programs, folder

    def make(
        self, name: str, lines: tuple[str, ...], before: datetime, interpreter: Interpreter
    ) -> Path | str:
        """The folder of wheels, which has one more now, else why not."""
        wanted = [line for line in lines if name_of(line) == name]
        for archive in source_archives(name, before, interpreter.feature):
            if all(meets(archive.version, line) for line in wanted):
                made = self._made(archive, before, interpreter)
                if isinstance(made, str):
                    return made
                self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)
                place = self._folder / made.name
                if not place.exists():
                    place.write_bytes(made.read_bytes())
                return self._folder
        return NO_SOURCE

    def _made(
        self, archive: SourceArchive, before: datetime, interpreter: Interpreter
    ) -> Path | str:
        """Built now or before: a file of the tool cache."""
        key = f'{archive.sha256}\0{interpreter.version}'
        home = cache_folder() / 'pythons/wheels' / hashlib.sha256(key.encode()).hexdigest()[:24]
        known = sorted(home.glob('*.whl'))
        if known:
            return known[0]
        content = fetch(archive)
        if hashlib.sha256(content).hexdigest() != archive.sha256:
            return NO_SOURCE
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        source = home / archive.file
        durable.write(source, [content])
        source.chmod(0o644)
        return self._built(source, content, max(before, EARLIEST), interpreter)

    def _built(
        self, source: Path, content: bytes, day: datetime, interpreter: Interpreter
    ) -> Path | str:
        system = build_system(_member(source.name, content, 'pyproject.toml'))
        setup = _member(source.name, content, 'setup.py')
        packages = build_packages(system, setup, day, interpreter)
        if packages is None:
            return NO_WHEEL
        backend = str(system.get('build-backend') or _LEGACY)
        paths = [one for one in system.get('backend-path') or () if isinstance(one, str)]
        python = PythonSetup(installed=packages, programs=self._programs)
        with self._sandbox.start(wheel_job(python, source, backend, paths)) as process:
            said = process.stdout.read(_WHEEL_BYTES)
            process.stdin.close()
            process.wait()
            noise = process.noise()
        first, _, wheel = said.partition(b'\n')
        name = first.decode(errors='replace')
        if not wheel or not _NAME.fullmatch(name):
            return why_not_built(noise)
        durable.write(source.parent / name, [wheel])
        return source.parent / name


def build_packages(
    system: dict[str, Any], setup: bytes, day: datetime, interpreter: Interpreter
) -> Installed | None:
    """What a build needs, by its table `build-system` and its setup.py, as of a day."""
    wanted = [one for one in system.get('requires') or () if isinstance(one, str)]
    wanted += [name for name in _PLUGINS if name.encode() in setup]
    for lines in (wanted, []):
        both = [*lines, 'setuptools', 'wheel']
        locked = uv.resolved(both, interpreter.program, day, {})
        if isinstance(locked, str):
            found = installed(Locked(text=locked), interpreter)
            return None if isinstance(found, Unresolved) else found
    return None


def why_not_built(noise: str) -> str:
    """Whether it was for want of a compiler, by what a build printed: for people, no verdict rests on it."""
    return NEEDS_COMPILER if _COMPILER.search(noise) else NO_WHEEL


def build_system(pyproject: bytes) -> dict[str, Any]:
    """What a pyproject.toml says of how its project is built; nothing where it cannot be read."""
    try:
        system = tomllib.loads(pyproject.decode(errors='replace')).get('build-system')
    except ValueError:
        return {}
    return system if isinstance(system, dict) else {}


def _member(name: str, content: bytes, wanted: str) -> bytes:
    """A file at an archive's top, nothing where there is none; nothing is unpacked."""
    place = re.compile(rf'(\./)?[^/]+/{re.escape(wanted)}')
    try:
        if name.endswith('.zip'):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                paths = [path for path in archive.namelist() if place.fullmatch(path)]
                return archive.read(paths[0]) if paths else b''
        with tarfile.open(fileobj=io.BytesIO(content)) as packed:
            for member in packed:
                if member.isfile() and place.fullmatch(member.name):
                    found = packed.extractfile(member)
                    return found.read(_TEXT_BYTES) if found else b''
    except (OSError, ValueError, EOFError, tarfile.TarError, zipfile.BadZipFile):
        pass
    return b''
