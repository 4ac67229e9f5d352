"""The sandbox, folder, environments and caches of a run over one repository.

They are made once, for all its interpreters.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.cells import CheckedSource
from coevo.languages.core.cell_files import RevisionTrees, read_file_sizes
from coevo.languages.core.engines import open_sandbox_and_workspace
from coevo.languages.engine import RunSettings
from coevo.languages.python import inside
from coevo.languages.python.built import BuiltEnd
from coevo.languages.python.byte_code import ByteCodeCache, RewrittenTestCache
from coevo.languages.python.installation import install_locked_packages
from coevo.languages.python.interpreters import PROGRAMS, RELEASED, SETTLED, Feature, Interpreter
from coevo.languages.python.launch import PythonSetup, make_clock_probe_job
from coevo.languages.python.layout import find_test_file_names, select_test_paths
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import (
    InstalledPackages,
    ResolutionFailure,
    resolve_requirements,
)
from coevo.languages.python.supply import SLEEP, compile_library
from coevo.languages.python.uv_jobs import compile_requirements, install_packages
from coevo.languages.python.wheels import WheelMaker
from coevo.model.errors import Transient
from coevo.sandboxes.clock import ProcessClock
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.disk import find_cache_folder

# The last feature release whose virtual environments came with setuptools, which has
# `pkg_resources`.
_LAST_WITH_SETUPTOOLS = (3, 11)

# The extensions of files that are read on the host, by a build or by pytest, whatever is run.
_SOURCES_AND_SETTINGS = frozenset(
    (
        *('.py', '.pyi', '.pyx', '.pxd', '.pxi', '.c', '.cc', '.cpp', '.h', '.hpp', '.rs'),
        *('.pth', '.toml', '.cfg', '.ini', '.in', '.lock', '.md', '.rst'),
    )
)

_Key = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str, datetime]

EndKey = tuple[str, str, date | None, tuple[tuple[str, ...], ...]]
"""Revision, interpreter, day, and the pins of its modules."""


class PythonRunContext:
    """The context of a run over one repository; closing the stack frees its resources. Thread-safe.

    own_edits  whether all edits of files are coevo's own, none a submission
    root       the folder of the run
    programs   the folder with copies of `inside`
    digest     of these programs
    checked    results of compiled sources
    ends       built revisions
    """

    def __init__(
        self,
        run: RunSettings,
        stack: ExitStack,
    ) -> None:
        self.repository, self.own_edits = run.repository, run.own_edits
        self.trees = RevisionTrees(
            repository=run.repository,
            select_test_paths=_select_test_paths,
            list_sizes=read_file_sizes,
            always_read=_SOURCES_AND_SETTINGS,
        )
        self.sandbox, self.root = open_sandbox_and_workspace(run.sandbox, stack)
        self.programs = copy_programs(self.root / 'programs')
        self.digest = _hash_programs(self.programs)
        self._wheels = 0
        self._libraries: dict[str, bool] = {}
        self.checked: dict[tuple[str, str, bytes], CheckedSource] = {}
        self.lock = threading.Lock()  # guards `checked`
        self.byte_code = ByteCodeCache(self.sandbox, self.programs)
        self.rewritten = RewrittenTestCache(self.sandbox, self.programs)
        self._clocks: dict[str, ProcessClock] = {}
        self.ends: dict[EndKey, BuiltEnd] = {}
        self._known: dict[_Key, InstalledPackages | ResolutionFailure] = {}
        self._locks: dict[_Key, threading.Lock] = {}
        self._lock = threading.Lock()

    def remove_builds_of_revision(self, rev: str) -> None:
        """Drop what is cached about a revision.

        Environments are kept, as they depend on requirements only.
        """
        for key in [key for key in self.ends if key[0] == rev]:
            self.ends.pop(key, None)
        self.trees.forget_revision(rev)

    def try_to_provide_c_library(self, name: str) -> bool:
        """Return whether a C library can be used; compile it among the programs if need be.

        False if this machine has no C compiler.

        Raises: Transient
        """
        with self._lock:
            if name not in self._libraries:
                compiled = compile_library(name)
                if compiled is not None:
                    target = self.programs / f'{name}.so'  # own name: a library of coevo's
                    shutil.copyfile(compiled, target)
                    target.chmod(0o644)
                self._libraries[name] = compiled is not None
            return self._libraries[name]

    def provide_coverage_folder(self, interpreter: Interpreter) -> str:
        """Return the path of coverage.py in the sandbox; it is fetched and copied there if need be.

        Raises: Transient
        """
        with self._lock:
            return f'{PROGRAMS}/{copy_coverage_into(self.programs, interpreter, self.sandbox)}'

    def get_clock_variables(
        self, installed: InstalledPackages, start: datetime
    ) -> Mapping[str, str] | None:
        """Return variables that make a process's clock start at a date; None if impossible."""
        setup = PythonSetup(installed=installed, programs=self.programs)
        preload = (f'{PROGRAMS}/{SLEEP}.so',) if self.try_to_provide_c_library(SLEEP) else ()
        new_clock = ProcessClock(
            self.sandbox, functools.partial(make_clock_probe_job, setup), preload
        )
        with self._lock:
            clock = self._clocks.setdefault(installed.interpreter.version, new_clock)
        return clock.make_environment(start)

    def resolve_and_install_once(
        self, needs: Needs, interpreter: Interpreter, when: datetime | None
    ) -> InstalledPackages | ResolutionFailure:
        """Resolve and install the requirements of a module's tests; return them, or why that fails.

        This is done once for equal requirements, interpreter and day.

        when  the day as of which versions are chosen, None for today; if it is earlier than 180
              days after the interpreter's release, that day is used instead
        """
        day = (when or datetime.now(UTC)).replace(hour=0, minute=0, second=0, microsecond=0)
        day = max(day, _compute_settled_date(interpreter))
        key = (needs.runtime, needs.tests, needs.pins, interpreter.version, day)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._known:
                self._known[key] = self._resolve_and_install(needs, interpreter, day)
            return self._known[key]

    def _resolve_and_install(
        self, needs: Needs, interpreter: Interpreter, day: datetime
    ) -> InstalledPackages | ResolutionFailure:
        more = ('setuptools',) if interpreter.feature <= _LAST_WITH_SETUPTOOLS else ()

        with self._lock:
            self._wheels += 1
            folder = self.root / 'wheels' / str(self._wheels)
        wheels = WheelMaker(self.sandbox, self.programs, folder)

        def make(name: str, lines: tuple[str, ...], before: datetime) -> Path | str:
            """Build a wheel for a package without one; return its folder, or why it fails."""
            return wheels.add_wheel_and_get_folder(name, lines, before, interpreter)

        locked = resolve_requirements(needs, interpreter, day, make, self.sandbox, more)
        if isinstance(locked, ResolutionFailure):
            environment: InstalledPackages | ResolutionFailure = locked
        else:
            environment = install_locked_packages(locked, interpreter, self.sandbox, self.programs)
        with suppress(Transient):  # traces need it, but they are made when there may be no network
            ensure_coverage_package(interpreter, self.sandbox)
        return environment


def _select_test_paths(repository: Repository, rev: str) -> frozenset[str]:
    tree = repository.tree(rev)
    return select_test_paths(
        tree, find_test_file_names(tree, lambda path: repository.blob(tree[path].oid))
    )


def _compute_settled_date(interpreter: Interpreter) -> datetime:
    """Return the date from which on packages support an interpreter: 180 days after its release."""
    day = RELEASED[interpreter.feature] + SETTLED
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def copy_programs(folder: Path) -> Path:
    """Copy the programs of `inside` to a new folder that sandboxes can see, and return it."""
    folder.mkdir(mode=0o755)
    for source in sorted(Path(str(inside.__file__)).parent.glob('*.py')):
        shutil.copyfile(source, folder / source.name)
        (folder / source.name).chmod(0o644)
    folder.chmod(0o755)
    return folder


def _hash_programs(folder: Path) -> str:
    """Return a digest of the programs, as verdicts depend on them, too."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        digest.update(file.read_bytes() + b'\0')
    return digest.hexdigest()


# coverage.py counts lines and branches. Each interpreter has the newest release that supports it.
#
# The releases are fixed, so that a test has the same coverage wherever it is run.

NAME = 'coverage'

_RELEASES: dict[Feature, str] = {
    (3, 6): '6.2',
    (3, 7): '7.2.7',
    (3, 8): '7.6.1',
    (3, 9): '7.10.7',
    (3, 10): '7.16.2',
}
_NEWEST = '7.17.3'
_BEFORE = datetime(2026, 11, 20, tzinfo=UTC)

# The needed parts of the installation: no programs, and nothing that starts with an interpreter.
_PARTS = (NAME, f'{NAME}.libs')


def choose_coverage_release(interpreter: Interpreter) -> str:
    """Return the fixed release of coverage.py for an interpreter."""
    return _RELEASES.get(interpreter.feature, _NEWEST)


def name_coverage_folder(interpreter: Interpreter) -> str:
    """Return the name of the folder with coverage.py for an interpreter: `coverage-7.6.1-3.8`."""
    return f'{NAME}-{choose_coverage_release(interpreter)}-{interpreter.release}'


def ensure_coverage_package(interpreter: Interpreter, sandbox: Sandbox) -> Path:
    """Return the folder of the tool cache with coverage.py for an interpreter, fetched if need be.

    Raises: Transient
    """
    home = find_cache_folder() / 'pythons/coverage'
    target = home / name_coverage_folder(interpreter)
    if not target.is_dir():
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix='.new-') as folder:
            new = Path(folder) / 'needed'
            new.mkdir(mode=0o755)
            _fetch_coverage_package(interpreter, sandbox, Path(folder) / 'all')
            for part in _PARTS:
                if (Path(folder) / 'all' / part).is_dir():
                    (Path(folder) / 'all' / part).rename(new / part)
            try:
                new.rename(target)
            except OSError:
                if not target.is_dir():
                    raise
    return target


def copy_coverage_into(programs: Path, interpreter: Interpreter, sandbox: Sandbox) -> str:
    """Copy coverage.py among the programs, unless it is there, and return the name of its folder.

    Raises: Transient
    """
    name = name_coverage_folder(interpreter)
    if not (programs / name).is_dir():
        shutil.copytree(ensure_coverage_package(interpreter, sandbox), programs / name)
    return name


def _fetch_coverage_package(interpreter: Interpreter, sandbox: Sandbox, target: Path) -> None:
    wanted = f'{NAME}=={choose_coverage_release(interpreter)}'
    locked = compile_requirements(sandbox, [wanted], interpreter, _BEFORE)
    if not isinstance(locked, str):
        raise Transient(f'{wanted} cannot be had: {locked.output.strip()[-300:]}')
    refused = install_packages(sandbox, locked, interpreter, target)
    if refused is not None:
        raise Transient(f'{wanted} cannot be installed: {refused.output.strip()[-300:]}')
