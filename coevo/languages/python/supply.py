"""Provide the interpreters and C libraries that a run may use, and check this machine for them."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coevo.display.terminal import escape_controls, hide_credentials
from coevo.languages.python import inside, uv
from coevo.languages.python.interpreters import (
    RELEASED,
    Feature,
    Interpreter,
    find_interpreters,
    get_download_folder,
)
from coevo.languages.runtimes import DoctorFinding
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say, ignore_message
from coevo.storage.disk import find_cache_folder

# C libraries for test processes, compiled with this machine's compiler into the tool cache.
#
# One library serves all interpreters, since each is built without their headers.

OBSERVER = 'observer'  # confirms passes
SLEEP = 'sleep'  # for faked clocks

_COMPILERS = ('cc', 'gcc', 'clang')
_FLAGS = ('-O2', '-shared', '-fPIC', '-fvisibility=hidden')
_COMPILER_SECONDS = 120


@functools.cache
def find_compiler() -> str | None:
    """Return the path of a C compiler; None if this machine has none."""
    return next((program for name in _COMPILERS if (program := shutil.which(name))), None)


def compile_library(name: str) -> Path | None:
    """Return the path of the compiled `inside/NAME.c`, compiled now or before.

    None if this machine has no C compiler.

    Raises:
        Transient: the compiler failed
    """
    program = find_compiler()
    if program is None:
        return None
    source = Path(str(inside.__file__)).parent / f'{name}.c'
    text = source.read_bytes() + ' '.join((*_FLAGS, platform.machine())).encode()
    folder = find_cache_folder() / 'pythons/libraries'
    target = (
        folder / f'{name}-{hashlib.sha256(text).hexdigest()[:32]}.so'
    )  # own name: a library of coevo's
    if not target.is_file():
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        _compile(program, source, target)
    return target


def _compile(program: str, source: Path, place: Path) -> None:
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix='.new-', suffix='.so')
    os.close(descriptor)
    new = Path(name)  # own name: tempfile's
    try:
        subprocess.run(
            [program, *_FLAGS, '-o', new, source, '-ldl'],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_COMPILER_SECONDS,
        )
        new.chmod(0o644)
        new.rename(place)
    except (OSError, subprocess.SubprocessError) as error:
        stderr = getattr(error, 'stderr', None) or str(error).encode()
        raise Transient(
            f'{program} does not compile {source.name}: {stderr[-300:].decode(errors="replace")}'
        ) from error
    finally:
        new.unlink(missing_ok=True)


# Provide the interpreters that a run may use, and check this machine for them.

_SECONDS = 900
_MOST_SAID = 300
_CAUSE = re.compile('^(cause|Caused by): ')


@dataclass(slots=True)
class PythonSupply:
    """The interpreters that a run may use. Implements `runtimes.Runtimes`. Thread-safe.

    known   those on this machine
    brings  whether to have uv install a missing interpreter, with one attempt for each
    say     reports an installation
    """

    known: Sequence[Interpreter] = field(default_factory=find_interpreters)
    brings: bool = False
    say: Say = ignore_message
    _asked: set[Feature] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def installable(self) -> Sequence[str]:
        """The feature releases that `install` accepts: `3.6`, `3.7` and so on."""
        return tuple(f'{major}.{minor}' for major, minor in RELEASED)

    def try_to_provide(self, version: str) -> bool:
        """Return whether this feature release is here, installed first if `brings` permits it.

        version  such as 3.11.7 or 3.11
        """
        return self.get_or_install(_parse_feature_release(version)) is not None

    def install(self, release: str) -> Interpreter:
        """Return an interpreter of a feature release, installed if need be.

        Raises:
            Fatal: there is no such release
            Transient: uv could not install it
        """
        if release not in self.installable:
            raise Fatal(
                f'there is no Python {release!r}; name one of {", ".join(self.installable)}'
            )
        feature = _parse_feature_release(release)
        with self._lock:
            interpreter = self._find(feature)
            if interpreter is None:
                self._install(feature)
                interpreter = self._find(feature)
        if interpreter is None:
            raise Transient(f'uv could not bring Python {release}')
        return interpreter

    def get_or_install(self, feature: Feature) -> Interpreter | None:
        """Return the interpreter of a feature release, or None if this machine has none.

        If `brings` permits it, the interpreter is installed first.
        """
        with self._lock:
            interpreter = self._find(feature)
            if interpreter is None and self.brings and feature not in self._asked:
                self._asked.add(feature)
                self._install(feature)
                interpreter = self._find(feature)
            return interpreter

    def _find(self, feature: Feature) -> Interpreter | None:
        return next(
            (interpreter for interpreter in self.known if interpreter.feature == feature), None
        )

    def _install(self, feature: Feature) -> None:
        name = f'{feature[0]}.{feature[1]}'
        self.say(f'Python {name} is not here; uv is asked for it')
        words = ('python', 'install', name, '--no-bin', '--install-dir', str(get_download_folder()))
        try:
            done = subprocess.run(
                [uv.find_program(), *words],
                capture_output=True,
                timeout=_SECONDS,
                env={**uv.TRUST, **os.environ},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return
        if done.returncode:
            self.say(f'Python {name} could not be brought: {_get_innermost_cause(done.stderr)}')
        else:
            self.known = find_interpreters()


def _get_innermost_cause(said: bytes) -> str:
    """Return the last line of uv's error message, without credentials or control characters."""
    *_, last = ['uv does not say why', *filter(None, said.decode(errors='replace').split('\n'))]
    return escape_controls(hide_credentials(_CAUSE.sub('', last.strip())))[:_MOST_SAID]


def _parse_feature_release(version: str) -> Feature:
    major, _, rest = version.partition('.')
    minor = rest.partition('.')[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def choose_interpreters_of_version(
    version: str, known: Sequence[Interpreter]
) -> Sequence[Interpreter]:
    """Return the interpreters of this very version, else those of its feature release, else all."""
    same = [interpreter for interpreter in known if interpreter.version == version]
    near = [
        interpreter
        for interpreter in known
        if interpreter.feature == _parse_feature_release(version)
    ]
    return same or near or known


# The check of this machine for `doctor`.


def inspect_machine() -> Iterator[DoctorFinding]:
    """Yield a finding on each of uv, Python and the C compiler: whether this machine has it."""
    yield _check_uv()
    known = [interpreter.release for interpreter in find_interpreters()]
    yield DoctorFinding(
        name='Python',
        good=bool(known),
        state=', '.join(known) or 'none',
        advice=None if known else 'install one (apt install python3), or let uv bring it',
    )
    program = find_compiler()
    yield DoctorFinding(
        name='C compiler',
        good=program is not None,
        state=program or 'not found',
        advice=None
        if program
        else 'install gcc and libc6-dev: without, passes of Python tests are `unobserved`, and repairs'
        ' in Python are no tasks',
    )


def _check_uv() -> DoctorFinding:
    try:
        path = uv.find_program()
    except Fatal as error:
        return DoctorFinding(
            name='uv', good=False, state='not found', advice=str(error).partition('; ')[2]
        )
    return DoctorFinding(name='uv', good=True, state=path)
