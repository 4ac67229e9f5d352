"""Build wheels for packages that have none, from source distributions, in the sandbox and offline.

The build requirements are installed from wheels. Their date is chosen so that setuptools already
supported PEP 517, and still had what old packages use (`setuptools.Feature`, removed in 46).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from packaging.version import Version

from coevo.languages.python.index_pages import IndexFile
from coevo.languages.python.installation import install_locked_packages
from coevo.languages.python.interpreters import (
    Feature,
    Interpreter,
    allows_feature,
    meets_requirement,
)
from coevo.languages.python.launch import (
    PythonSetup,
    make_source_archive_reader_job,
    make_wheel_job,
)
from coevo.languages.python.package_index import IndexRefusal, get_machine_index
from coevo.languages.python.requirements.stated import get_requirement_name
from coevo.languages.python.resolution import (
    InstalledPackages,
    LockedRequirements,
    ResolutionFailure,
)
from coevo.languages.python.uv_jobs import compile_requirements
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.beneath import find_path_fault, join_beneath
from coevo.storage.bounded_reading import parse_toml
from coevo.storage.disk import find_cache_folder

NO_WHEEL, NEEDS_COMPILER, NO_SOURCE = 'no_wheel', 'needs_compiler', 'no_source'

# The first day on which setuptools could build projects that name no backend (40.8.0).
EARLIEST = datetime(2019, 3, 1, tzinfo=UTC)
_LEGACY = 'setuptools.build_meta:__legacy__'
_TEXT_BYTES = 3 << 20
_LONGEST_WORD = 4096  # of a command's argument
_WHEEL_BYTES = 128 << 20
_COMPILER = re.compile(
    r"(gcc|cc|clang|c\+\+|g\+\+)['\"]? (failed|: No such)|command '[\w.-]*(gcc|cc)'|Python\.h"
)
# Packages that old projects have setuptools fetch during the build (`setup_requires`).
_PLUGINS = ('pbr', 'setuptools_scm', 'pytest-runner', 'vcversioner', 'cffi')
_NAME = re.compile(r'[\w.+!-]+\.whl', re.ASCII)


class WheelMaker:
    """A maker of wheels for one set of requirements; `folder` is its own and holds the wheels."""

    def __init__(self, sandbox: Sandbox, programs: Path, folder: Path) -> None:
        self._sandbox, self._programs, self._folder = sandbox, programs, folder

    def add_wheel_and_get_folder(
        self, name: str, lines: tuple[str, ...], before: datetime, interpreter: Interpreter
    ) -> Path | str:
        """Add a wheel of a package to the folder of wheels; return it, else why there is none.

        The wheel is built from the newest source distribution that fits the lines, unless the tool
        cache has it. If this fails, no older one is tried.

        lines   all requirements; those for this package count
        before  later uploads are ignored

        Raises: Transient
        """
        wanted = [line for line in lines if get_requirement_name(line) == name]
        for archive in list_source_archives(name, before, interpreter.feature):
            if all(meets_requirement(archive.version, line) for line in wanted):
                wheel_file = self._get_or_build_wheel(archive, before, interpreter)
                if isinstance(wheel_file, str):
                    return wheel_file
                self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)
                target = join_beneath(self._folder, wheel_file.name)
                if not target.is_file():
                    target.replace_file(wheel_file.read_bytes())
                return self._folder
        return NO_SOURCE

    def _get_or_build_wheel(
        self, archive: SourceArchive, before: datetime, interpreter: Interpreter
    ) -> Path | str:
        """Return the wheel of an archive from the tool cache, built if need be, else the reason."""
        key = f'{archive.sha256}\0{interpreter.version}'
        home = (
            find_cache_folder() / 'pythons/wheels' / hashlib.sha256(key.encode()).hexdigest()[:24]
        )
        known = sorted(home.glob('*.whl'))
        if known:
            return known[0]
        source = fetch_archive(archive)
        if source is None:
            return NO_SOURCE
        built = self._build_wheel(source, archive.kind, max(before, EARLIEST), interpreter)
        if isinstance(built, str):
            return built
        name, content = built
        target = join_beneath(home, name)
        target.replace_file(content)
        return target.path

    def _build_wheel(
        self, source: Path, kind: str, day: datetime, interpreter: Interpreter
    ) -> tuple[str, bytes] | str:
        """Build a wheel in the sandbox; return its name and content, else why there is none."""
        pyproject, setup = self._load_pyproject_and_setup(source, kind, interpreter)
        system = parse_build_system(pyproject)
        packages = install_build_packages(system, setup, day, interpreter, self._sandbox)
        if packages is None:
            return NO_WHEEL
        backend = str(system.get('build-backend') or _LEGACY)
        paths = [path for path in system.get('backend-path') or () if isinstance(path, str)]
        python = PythonSetup(installed=packages, programs=self._programs)
        words = [backend, *paths]
        if any('\0' in word or len(word) > _LONGEST_WORD for word in words):
            return NO_WHEEL
        with self._sandbox.start(make_wheel_job(python, source, kind, words)) as process:
            output = read_to_end(process.stdout, _WHEEL_BYTES)
            process.stdin.close()
            process.kill()
            noise = process.get_last_error_output()
        first, _, wheel = (output or b'').partition(b'\n')
        name = first.decode(errors='replace')
        if not wheel or not _NAME.fullmatch(name) or find_path_fault(name) is not None:
            return classify_build_failure(noise)
        return name, wheel

    def _load_pyproject_and_setup(
        self, source: Path, kind: str, interpreter: Interpreter
    ) -> tuple[bytes, bytes]:
        """Read pyproject.toml and setup.py of an archive in the sandbox; b'' for a missing one."""
        job = make_source_archive_reader_job(
            interpreter, self._programs, source, kind, ('pyproject.toml', 'setup.py')
        )
        with self._sandbox.start(job) as process:
            process.stdin.close()
            output = read_to_end(process.stdout, _TEXT_BYTES) or b''
        size, _, rest = output.partition(b'\n')
        first = int(size) if size.isdigit() else 0
        return rest[:first], rest[first:].partition(b'\n')[2]


def read_to_end(stream: IO[bytes], most: int) -> bytes | None:
    """Return all output of a job; None if it has more than `most` bytes, which stay unread."""
    parts: list[bytes] = []
    size = 0
    while block := stream.read(1 << 16):
        size += len(block)
        if size > most:
            return None
        parts.append(block)
    return b''.join(parts)


def install_build_packages(
    system: dict[str, Any],
    setup: bytes,
    day: datetime,
    interpreter: Interpreter,
    sandbox: Sandbox,
) -> InstalledPackages | None:
    """Install what a build needs, as of a day; return the packages, None if that is impossible.

    These are `requires` of the table `build-system`, known plug-ins that setup.py names, setuptools
    and wheel; if they cannot be resolved, setuptools and wheel alone.

    system  the table `build-system`
    setup   the content of setup.py
    """
    wanted = [
        requirement for requirement in system.get('requires') or () if isinstance(requirement, str)
    ]
    wanted += [name for name in _PLUGINS if name.encode() in setup]
    for lines in (wanted, []):
        both = [*lines, 'setuptools', 'wheel']
        locked = compile_requirements(sandbox, both, interpreter, day)
        if isinstance(locked, str):
            packages = install_locked_packages(
                LockedRequirements(text=locked), interpreter, sandbox
            )
            return None if isinstance(packages, ResolutionFailure) else packages
    return None


def classify_build_failure(noise: str) -> str:
    """Return `needs_compiler` if the output of a build says that one was missing, else `no_wheel`.

    The result is for people; no verdict depends on it.
    """
    return NEEDS_COMPILER if _COMPILER.search(noise) else NO_WHEEL


def parse_build_system(pyproject: bytes) -> dict[str, Any]:
    """Return the table `build-system` of a pyproject.toml; {} if it cannot be read."""
    try:
        system = parse_toml(pyproject.decode(errors='replace')).get('build-system')
    except ValueError:
        return {}
    return system if isinstance(system, dict) else {}


# Source distributions of a package, as the package index lists them.

_FINAL = re.compile(
    r'.+?-v?(?P<version>\d+(\.\d+)*(\.post\d+)?)(?P<kind>\.tar\.gz|\.zip)', re.ASCII
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceArchive:
    """A source distribution of a final release on the package index.

    kind  `.zip` or `.tar.gz`
    """

    file: IndexFile
    sha256: str
    kind: str
    version: Version
    uploaded: datetime


def list_source_archives(
    name: str, before: datetime, feature: Feature
) -> tuple[SourceArchive, ...]:
    """Return the source distributions of a package for an interpreter, newest release first.

    Yanked files, and files without a hash or an upload date, are left out.

    before   later uploads are ignored
    feature  the release of the interpreter

    Raises:
        Transient: the index cannot be reached
    """
    known = [
        archive
        for archive in _load_source_archives(name)
        if archive.uploaded <= before and allows_feature(archive.file.python, feature)
    ]
    return tuple(sorted(known, key=lambda one: (one.version, one.file.name), reverse=True))


def fetch_archive(archive: SourceArchive) -> Path | None:
    """Return the path of an archive, fetched if need be, with a checked digest; None if it is gone.

    Raises:
        Transient: the index cannot be reached
    """
    try:
        return get_machine_index().fetch_file(archive.file)
    except IndexRefusal:
        return None


def _load_source_archives(name: str) -> Iterator[SourceArchive]:
    try:
        page = get_machine_index().get_page(0, name)
    except IndexRefusal:
        return
    for file in page.files.values():
        named = _FINAL.fullmatch(file.name)
        uploaded = parse_upload_date(file.uploaded)
        # Upload dates were added by PEP 700, so a page may lack them.
        if named is None or file.yanked or uploaded is None or file.sha256 is None:
            continue
        yield SourceArchive(
            file=file,
            sha256=file.sha256,
            kind=named['kind'],
            version=Version(named['version']),
            uploaded=uploaded,
        )


def parse_upload_date(text: str) -> datetime | None:
    """Return the upload time that an index gives for a file; None if it is no valid date.

    Without a time zone it is taken for UTC.
    """
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
