"""Requirements installed into the tool cache, by their exact versions and interpreter.

The project itself is not installed: its code is the tree that a test runs in. Its version and its
entry points, which would be missing without an installation, are written beside the packages
(`make_metadata_files`).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.resolution import LockedRequirements, ResolutionFailure
from coevo.languages.python.uv_jobs import install_packages
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.disk import find_cache_folder

# This failure is a verdict on the revision, as is a resolution that takes too long.
INSTALLS_TOO_LONG = 'install_too_long'


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPackages:
    """The packages of one environment, installed for one interpreter.

    site         the folder of packages, readable by all users
    locked       their list: NAME==VERSION with hashes
    workarounds  those that the resolution needed
    """

    interpreter: Interpreter
    site: Path
    locked: str
    workarounds: tuple[str, ...] = ()


def install_locked_packages(
    locked: LockedRequirements, interpreter: Interpreter, sandbox: Sandbox
) -> InstalledPackages | ResolutionFailure:
    """Install a list of packages, unless this was done before; return them.

    A ResolutionFailure is returned if uv cannot install them, or if that takes too long.

    Raises:
        Transient: the failure says nothing about the packages
    """
    key = hashlib.sha256(f'{interpreter.version}\0{locked.text}'.encode()).hexdigest()[:24]
    home = find_cache_folder() / 'pythons/environments'
    target = home / key
    if not target.is_dir():
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=home, prefix='.new-'))
        try:
            new.chmod(0o755)
            refused = install_packages(sandbox, locked.text, interpreter, new, locked.wheels)
            if refused is not None:
                reason = 'install' if refused.exceeded is None else INSTALLS_TOO_LONG
                return ResolutionFailure(reason=reason, output=refused.output)
            _move_into_place(new, target)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return InstalledPackages(
        interpreter=interpreter, site=target, locked=locked.text, workarounds=locked.workarounds
    )


def _move_into_place(new: Path, place: Path) -> None:
    """Rename the new folder to its place; do nothing if another process has made that folder."""
    try:
        new.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def list_packages_with_digests(locked: str) -> Iterator[tuple[str, str]]:
    """Yield NAME==VERSION of each package in a list, and a digest over the hashes of its files."""
    for line in locked.replace('\\\n', ' ').splitlines():
        name, *hashes = line.split()[:1] + sorted(re.findall(r'--hash=\S+:(\w+)', line))
        if '==' in name:
            yield name, hashlib.sha256('\n'.join(hashes).encode()).hexdigest()
