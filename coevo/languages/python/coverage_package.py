"""coverage.py, which counts lines and branches: for each interpreter the newest release that it can run.

The releases are fixed, so that the same test covers the same wherever it is run.
"""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from coevo.languages.python.interpreter_choice import Feature
from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.uv_jobs import compile_requirements, install_packages
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.folders import find_cache_folder

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

# Of what is installed, what is needed: no programs, nothing that starts with an interpreter.
_PARTS = (NAME, f'{NAME}.libs')


def choose_release(interpreter: Interpreter) -> str:
    return _RELEASES.get(interpreter.feature, _NEWEST)


def name_folder(interpreter: Interpreter) -> str:
    return f'{NAME}-{choose_release(interpreter)}-{interpreter.release}'


def ensure_coverage_package(interpreter: Interpreter, sandbox: Sandbox) -> Path:
    """A folder of the tool cache with the package, fetched once; Transient where it cannot be had."""
    home = find_cache_folder() / 'pythons/coverage'
    target = home / name_folder(interpreter)
    if not target.is_dir():
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix='.new-') as folder:
            new = Path(folder) / 'needed'
            new.mkdir(mode=0o755)
            _fetch_package(interpreter, sandbox, Path(folder) / 'all')
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
    """The name of the package's folder among our programs, where sandboxes see it."""
    name = name_folder(interpreter)
    if not (programs / name).is_dir():
        shutil.copytree(ensure_coverage_package(interpreter, sandbox), programs / name)
    return name


def _fetch_package(interpreter: Interpreter, sandbox: Sandbox, target: Path) -> None:
    wanted = f'{NAME}=={choose_release(interpreter)}'
    locked = compile_requirements(sandbox, [wanted], interpreter, _BEFORE)
    if not isinstance(locked, str):
        raise Transient(f'{wanted} cannot be had: {locked.output.strip()[-300:]}')
    refused = install_packages(sandbox, locked, interpreter, target)
    if refused is not None:
        raise Transient(f'{wanted} cannot be installed: {refused.output.strip()[-300:]}')
