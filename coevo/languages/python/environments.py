"""Installed requirements, kept in the tool cache by what they are: exact versions and interpreter.

The project itself is not among them: its code is the tree that a test runs in. What it loses by that,
its version and its entry points, is written beside them (`metadata.py`).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.python import uv
from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.places import PACKAGES
from coevo.languages.python.resolution import Locked
from coevo.languages.python.resolution import Unresolved
from coevo.storage.folders import cache_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """site  the folder of packages, open to all users; locked: NAME==VERSION with hashes"""

    interpreter: Interpreter
    site: Path
    locked: str
    workarounds: tuple[str, ...] = ()


def installed(locked: Locked, interpreter: Interpreter) -> Installed | Unresolved:
    """What a list names, installed now or before."""
    key = hashlib.sha256(f'{interpreter.version}\0{locked.text}'.encode()).hexdigest()[:24]
    home = cache_folder() / 'pythons/environments'
    place = home / key
    if not place.is_dir():
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=home, prefix='.new-'))
        new.chmod(0o755)
        refused = uv.install(locked.text, interpreter.program, new, locked.wheels)
        if refused is not None:
            shutil.rmtree(new, ignore_errors=True)
            return Unresolved(reason='install', said=refused.said)
        _compile(interpreter, new)
        _set_down(new, place)
    return Installed(
        interpreter=interpreter, site=place, locked=locked.text, workarounds=locked.workarounds
    )


def _compile(interpreter: Interpreter, folder: Path) -> None:
    """Spare each process to do it again; what does not compile is left to who imports it.

    The compiler runs none of what it reads. uv would do it too, but not for Python 3.6, and would give
    up at files of Python 2.
    """
    words = ('-I', '-S', '-m', 'compileall', '-q', '-d', PACKAGES, str(folder))
    subprocess.run(
        [interpreter.program, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def _set_down(new: Path, place: Path) -> None:
    """Under its name, unless somebody else was faster."""
    try:
        new.rename(place)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)


def packages(locked: str) -> Iterator[tuple[str, str]]:
    """NAME==VERSION of each line, and a digest over the hashes that the index gives its files."""
    for line in locked.replace('\\\n', ' ').splitlines():
        name, *hashes = line.split()[:1] + sorted(re.findall(r'--hash=\S+:(\w+)', line))
        if '==' in name:
            yield name, hashlib.sha256('\n'.join(hashes).encode()).hexdigest()
