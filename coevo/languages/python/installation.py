"""Install the packages of an environment into the tool cache, by exact versions and interpreter.

The project itself is not installed: its code is the tree that a test runs in. Its version and its
entry points, which would be missing without an installation, are written beside the packages
(`make_metadata_files`).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from coevo.languages.python.interpreters import Interpreter
from coevo.languages.python.launch import PythonSetup, make_plugin_rewriter_job
from coevo.languages.python.resolution import (
    InstalledPackages,
    LockedRequirements,
    ResolutionFailure,
)
from coevo.languages.python.site_folder import DATE, SiteFault, unpack_packages
from coevo.languages.python.uv_jobs import install_packages
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.disk import find_cache_folder

# This failure is a verdict on the revision, as is a resolution that takes too long.
INSTALLS_TOO_LONG = 'install_too_long'

# A file in which pytest keeps the byte code of a module whose assertions it rewrote.
_REWRITTEN = re.compile(r'([^/]+/)*__pycache__/[^/]+-pytest-[^/]+\.pyc')


def install_locked_packages(
    locked: LockedRequirements,
    interpreter: Interpreter,
    sandbox: Sandbox,
    programs: Path | None = None,
) -> InstalledPackages | ResolutionFailure:
    """Install a list of packages, unless this was done before; return them.

    A ResolutionFailure is returned if uv cannot install them, or if that takes too long.

    programs  the folder with coevo's programs; None for packages that no test process uses

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
            packages = InstalledPackages(interpreter=interpreter, site=new, locked=locked.text)
            if programs is not None:
                add_rewritten_plugins(packages, programs, sandbox)
            _move_into_place(new, target)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return InstalledPackages(
        interpreter=interpreter, site=target, locked=locked.text, workarounds=locked.workarounds
    )


def add_rewritten_plugins(installed: InstalledPackages, programs: Path, sandbox: Sandbox) -> None:
    """Write byte code with rewritten assertions beside the modules of pytest's plugins.

    pytest rewrites all modules of a package that has a plugin, for example all of hypothesis or
    anyio, and keeps the result beside them. No test process may write there, so each would rewrite
    them again. The files are those that pytest would write. Whatever is missing because of an
    error is rewritten in each process.
    """
    if not (installed.site / '_pytest').is_dir():
        return
    job = make_plugin_rewriter_job(PythonSetup(installed=installed, programs=programs), DATE)
    shared = find_cache_folder() / 'pythons/files'
    with sandbox.start(job) as process, suppress(SiteFault, tarfile.TarError):
        unpack_packages(process.stdout, installed.site, shared, _REWRITTEN)


def _move_into_place(new: Path, place: Path) -> None:
    """Rename the new folder to its place; do nothing if another process has made that folder."""
    try:
        new.rename(place)
    except OSError:
        if not place.is_dir():
            raise
