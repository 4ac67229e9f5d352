"""Find the interpreters of this machine that sandboxes can use, and choose one for a pair."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, Specifier
from packaging.version import Version

from coevo.sandboxes.sandbox import Mount
from coevo.storage.disk import find_cache_folder

# Find the interpreters of this machine that sandboxes can use, and their place in the sandbox.

# Read-only: the files of the run, the interpreter and its packages.
TREE_FILE, PROGRAMS = '/in/tree', '/in/programs'
PYTHON, PACKAGES = '/python', '/packages'

# Writable, in memory: the tree that tests run in, and a virtual environment for it.
TREE, ENVIRONMENT = '/w/tree', '/w/env'

# Links to the programs of the host that tests may use.
TOOLS = f'{ENVIRONMENT}/tools'


# The range that the worker supports; uv still installs packages for 3.6.
OLDEST = (3, 6)
NEWEST = (3, 14)

_ASK = """\
import json, platform, sys, sysconfig
json.dump([platform.python_implementation(), list(sys.version_info[:3]), sys.version_info[3],
    sys.base_prefix, sysconfig.get_config_var('LIBDIR') or ''], sys.stdout)
"""
_SECONDS = 60

# Parts of an installation that no test of a project needs: 60 of 190 MB. Of the package `test`
# projects use the helpers in `test.support`, which distributions ship, too.
_NOT_NEEDED = shutil.ignore_patterns('idlelib', 'turtledemo', '*.a')
_NEEDED_OF_TEST = frozenset({'__init__.py', 'support', 'libregrtest'})
_COPY_VERSION = 2  # the number changes with what a copy has


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """An installed CPython.

    version  such as 3.11.7
    prefix   the folder of the installation
    """

    version: str
    prefix: Path

    @property
    def feature(self) -> tuple[int, int]:
        """The feature release as numbers: (3, 11)."""
        major, minor, *_ = map(int, self.version.split('.'))
        return major, minor

    @property
    def release(self) -> str:
        """The feature release as text: 3.11."""
        return f'{self.feature[0]}.{self.feature[1]}'

    def __str__(self) -> str:
        return f'{self.version} in {self.prefix}'

    @property
    def path_below_prefix(self) -> str:
        """The path of the program below the prefix."""
        return f'bin/python{self.feature[0]}.{self.feature[1]}'

    @property
    def program(self) -> Path:
        """The path of the program."""
        return self.prefix / self.path_below_prefix  # own name: a release of Python


def find_interpreters() -> tuple[Interpreter, ...]:
    """Return the newest interpreter of each feature release on this machine, the oldest first.

    Each candidate program is started once to ask its version. Those outside of `OLDEST` to `NEWEST`
    are left out.
    """
    named = os.environ.get('COEVO_PYTHONS')
    newest: dict[tuple[int, int], Interpreter] = {}
    for program in _list_named_programs(named) if named else _list_programs():
        interpreter = _query_interpreter(program)
        if interpreter is None or not OLDEST <= interpreter.feature <= NEWEST:
            continue
        known = newest.get(interpreter.feature)
        if known is None or _parse_version(interpreter.version) > _parse_version(known.version):
            newest[interpreter.feature] = interpreter
    return tuple(newest[feature] for feature in sorted(newest))


def _parse_version(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split('.')))


def _list_named_programs(text: str) -> Iterator[Path]:
    """Yield the programs that a list such as $COEVO_PYTHONS permits.

    A part is a feature release (`3.11`: all installed ones), the path of a program, or a prefix.
    """
    for part in text.split(':'):
        if re.fullmatch(r'\d+\.\d+', part):
            yield from (program for program in _list_programs() if program.name == f'python{part}')
        elif part:
            path = Path(part)
            yield from sorted(path.glob('bin/python3.*')) if path.is_dir() else (path,)


def _list_programs() -> Iterator[Path]:
    """Yield the paths of all possible interpreters; not each of them exists or starts."""
    names = [f'python3.{minor}' for minor in range(OLDEST[1], NEWEST[1] + 1)]
    for folder in os.environ.get('PATH', '').split(':'):
        if folder and not folder.endswith('/.pyenv/shims'):
            yield from (Path(path) for name in names if (path := shutil.which(name, path=folder)))
    yield from (
        program for name in names if (program := Path(sys.base_prefix, 'bin', name)).exists()
    )
    pyenv = Path(os.environ.get('PYENV_ROOT') or Path.home() / '.pyenv')
    data = Path(os.environ.get('XDG_DATA_HOME') or Path.home() / '.local/share')
    uv = Path(os.environ.get('UV_PYTHON_INSTALL_DIR') or data / 'uv/python')
    for home in (pyenv / 'versions', uv, get_download_folder()):
        for name in names:
            yield from sorted(home.glob(f'*/bin/{name}'))


def get_download_folder() -> Path:
    """Return the folder of the interpreters that coevo has downloaded."""
    return find_cache_folder() / 'pythons/brought'


@functools.cache
def _query_interpreter(program: Path) -> Interpreter | None:
    """Return the interpreter; None if it does not start, or is not a final release of CPython."""
    try:
        done = subprocess.run(
            [program, '-I', '-S', '-c', _ASK],
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
            env={'PATH': '/usr/bin:/bin', 'HOME': '/'},
        )
        kind, numbers, level, prefix, _ = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    interpreter = Interpreter(version='.'.join(map(str, numbers)), prefix=Path(prefix))
    return (
        interpreter
        if kind == 'CPython' and level == 'final' and interpreter.program.exists()
        else None
    )


def ensure_readable_prefix(interpreter: Interpreter) -> Path:
    """Return a prefix of the interpreter that any user can enter, for the sandbox.

    This is its own prefix or, if that is closed, a copy of it in the tool cache.
    """
    if is_open_to_all(interpreter.prefix):
        return interpreter.prefix
    copies = find_cache_folder() / 'pythons/copies'
    name = f'{interpreter.version}-{fingerprint_program(interpreter.program)}-{_COPY_VERSION}'
    copy = copies / name  # own name: a release of Python and numbers
    if not copy.is_dir():
        copies.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=copies, prefix='.new-'))
        shutil.copytree(
            interpreter.prefix, new, symlinks=True, ignore=_list_left_behind, dirs_exist_ok=True
        )
        shutil.rmtree(
            new / 'lib' / Path(interpreter.path_below_prefix).name / 'site-packages'
        )  # own name: a release of Python
        new.chmod(0o755)
        try:
            new.rename(copy)
        except OSError:  # another process was faster
            shutil.rmtree(new, ignore_errors=True)
    return copy


def _list_left_behind(folder: str, names: list[str]) -> set[str]:
    """Return the names in a folder of an installation that its copy does without."""
    if Path(folder).name == 'test':
        return set(names) - _NEEDED_OF_TEST
    return _NOT_NEEDED(folder, names)


def fingerprint_program(program: Path) -> str:
    """Return a word that changes when the program is replaced."""
    status = program.stat()
    return f'{status.st_size:x}-{int(status.st_mtime):x}'


def is_open_to_all(folder: Path) -> bool:
    """Return whether any user can enter a folder, or run a program, from the root on."""
    real = folder.resolve()
    return all(path.stat().st_mode & stat.S_IXOTH for path in (real, *real.parents))


# The sandbox always shows the programs below this folder.
_SYSTEM = Path('/usr')


def get_sandbox_program(interpreter: Interpreter) -> str:
    """Return the path of an interpreter's program in the sandbox."""
    prefix = str(interpreter.prefix) if _is_system_interpreter(interpreter) else PYTHON
    return f'{prefix}/{interpreter.path_below_prefix}'


def get_library_variables(interpreter: Interpreter) -> dict[str, str]:
    """Return the variables with which an interpreter finds its shared library in the sandbox.

    {} if it has its own path there.
    """
    return {} if _is_system_interpreter(interpreter) else {'LD_LIBRARY_PATH': f'{PYTHON}/lib'}


def list_interpreter_mounts(interpreter: Interpreter) -> tuple[Mount, ...]:
    """Return the mounts that make an interpreter visible in the sandbox; () if it is below /usr.

    An interpreter in a closed folder is copied first.
    """
    if _is_system_interpreter(interpreter):
        return ()
    return (Mount(source=ensure_readable_prefix(interpreter), target=PYTHON),)


def list_system_interpreter_mounts(interpreter: Interpreter) -> tuple[Mount, ...]:
    """Return the files of an interpreter that lies below /usr, at their own paths; else ()."""
    if not _is_system_interpreter(interpreter):
        return ()
    parts = (interpreter.path_below_prefix, f'lib/python{interpreter.release}')
    paths = (interpreter.prefix / part for part in parts)  # own name: a release of Python
    return tuple(Mount(source=path, target=str(path)) for path in paths)


def _is_system_interpreter(interpreter: Interpreter) -> bool:
    return interpreter.prefix == _SYSTEM


# Choose the interpreter for both revisions of a pair, so that no label comes from a change of it.
#
# Both requirements (`requires-python`) and the date of the new revision decide. Tried are the
# newest release that had been out for half a year, then its neighbours, three at most. If the
# machine has none of them, its nearest one is used. With this rule 39 of 40 revisions of ten
# projects ran with the first interpreter.

# The date of the .0 of each feature release (PEP 494, 537, 569, 596, 619, 664, 693, 719, 745).
RELEASED = {
    (3, 6): date(2016, 12, 23),
    (3, 7): date(2018, 6, 27),
    (3, 8): date(2019, 10, 14),
    (3, 9): date(2020, 10, 5),
    (3, 10): date(2021, 10, 4),
    (3, 11): date(2022, 10, 24),
    (3, 12): date(2023, 10, 2),
    (3, 13): date(2024, 10, 7),
    (3, 14): date(2025, 10, 7),
}
SETTLED = timedelta(days=180)
MOST_TRIED = 3

Feature = tuple[int, int]

# More patch releases than any feature release has had.
_MOST_RELEASES = 40
_LONGEST_CLAUSE = 100


def list_candidates(allowed: Collection[str], when: datetime | None) -> tuple[Feature, ...]:
    """Return the feature releases to try for a pair, the best first, three at most.

    allowed  the `requires-python` of both revisions; if together they exclude all releases, they
             are ignored
    when     the date of the new revision; None counts as later than all releases
    """
    return _order_features(allowed, when)[:MOST_TRIED]


def find_nearest_available(
    allowed: Collection[str], when: datetime | None, there: Collection[Feature]
) -> Feature | None:
    """Return the release of `there` that comes first in the order of candidates; None if none fits.

    It is for a machine that has none of the candidates.
    """
    return next((feature for feature in _order_features(allowed, when) if feature in there), None)


def _order_features(allowed: Collection[str], when: datetime | None) -> tuple[Feature, ...]:
    able = [
        feature for feature in RELEASED if all(allows_feature(text, feature) for text in allowed)
    ] or list(RELEASED)
    day = when.date() if when is not None else date.max
    settled = [feature for feature in able if RELEASED[feature] + SETTLED <= day]
    first = able.index(settled[-1]) if settled else 0
    order = sorted(range(len(able)), key=lambda place: (abs(place - first), place > first))
    return tuple(able[index] for index in order)


def allows_feature(specifiers: str, feature: Feature) -> bool:
    """Return whether each clause of the specifiers allows some patch release of a feature release.

    Clauses that cannot be read exclude nothing.
    """
    clauses = map(str.strip, specifiers.split(','))
    return all(_clause_allows(text, feature) for text in clauses if len(text) <= _LONGEST_CLAUSE)


def meets_requirement(version: Version, requirement: str) -> bool:
    """Return whether a version satisfies a requirement line such as `six>=1.16; python_version>"3"`.

    The part after `;` is ignored. True if the line cannot be read.
    """
    # The marker is dropped: an untrusted one may be nested deeper than a parser can handle.
    plain = requirement.partition(';')[0]
    try:
        return Requirement(plain).specifier.contains(version, prereleases=True)
    except ValueError:
        return True


@lru_cache(maxsize=4096)
def _clause_allows(text: str, feature: Feature) -> bool:
    """Return whether a clause allows any patch release of a feature release.

    `>3.8`, `!=3.10` and `===3.9` name a feature release and mean all of its patch releases, so only
    its first one is checked; `==3` means all of Python 3.
    """
    # Forms from before PEP 440 are still common: `>=3.6.*`, `<4.*`.
    try:
        clause = Specifier(text.removesuffix('.*') if text.startswith(('<', '>', '~')) else text)
    except InvalidSpecifier:
        return True
    if clause.operator in ('==', '===') and clause.version.isdecimal():
        return int(clause.version) == feature[0]
    name = f'{feature[0]}.{feature[1]}'
    names_releases = clause.version.removesuffix('.*').count('.') > 1
    releases = (
        (f'{name}.{number}' for number in range(_MOST_RELEASES)) if names_releases else [name]
    )
    return any(clause.contains(release, prereleases=True) for release in releases)
