"""Provide agents with what tests need offline: an interpreter and the packages of the task."""

from __future__ import annotations

import posixpath
import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.kits import EnvironmentLost, Kit, ProjectFile
from coevo.languages.python import layout
from coevo.languages.python.built import make_module
from coevo.languages.python.installation import install_locked_packages
from coevo.languages.python.interpreters import (
    PACKAGES,
    PROGRAMS,
    TREE_FILE,
    Interpreter,
    find_interpreters,
    list_system_interpreter_mounts,
)
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.requirements.reading import load_needs
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import (
    InstalledPackages,
    ResolutionFailure,
    resolve_requirements,
)
from coevo.languages.python.run_context import copy_programs
from coevo.languages.python.supply import PythonSupply, choose_interpreters_of_version
from coevo.languages.python.wheels import WheelMaker
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Sandbox

# The virtual environment in which the commands of a task run its tests.
#
# Where a task's commands are run as they stand, `uv venv` and `uv pip install` make the folder
# .venv. Where its packages are there already, it consists of links and of the project's name and
# folders. The project itself is not installed: nothing is built.

_FOLDER = '.venv'


def make_virtual_environment_files(
    setup: PythonSetup, start: Path, module: str
) -> dict[str, ProjectFile]:
    """Return the files of .venv in the folder of a module, by their paths at the start state.

    They lead to the interpreter and the packages at their places in a sandbox. Modules that a build
    generates are among them, beside .venv.

    start   the start state, a Git repository of one commit
    module  '.' for the root
    """
    with closing(Repository(start / '.git')) as repository:
        rev = repository.resolve('HEAD')
        needs = load_needs(repository, rev, module)
        own = make_module(repository, rev, module, needs, setup.installed)
    metadata = layout.make_metadata_files(needs)
    files = {path: ProjectFile(content=text) for path, text in own.written}
    release = f'python{setup.interpreter.release}'
    site = f'lib/{release}/site-packages'
    home = setup.python.rpartition('/')[0]
    inner = {
        'pyvenv.cfg': f'home = {home}\ninclude-system-site-packages = false\n'.encode(),
        f'{site}/coevo.pth': _format_pth_file(own.roots, module, f'{_FOLDER}/{site}'),
        **{f'{site}/{path}': content for path, content in metadata.items()},
    }
    folder = posixpath.normpath(posixpath.join(module, _FOLDER))
    links = {f'bin/{name}': setup.python for name in ('python', 'python3', release)}
    return {
        **files,
        **{f'{folder}/{path}': ProjectFile(content=content) for path, content in inner.items()},
        **{f'{folder}/{path}': ProjectFile(target=target) for path, target in links.items()},
    }


def _format_pth_file(roots: tuple[str, ...], module: str, site: str) -> bytes:
    """Return a .pth file that adds the folders of the project, and then its packages, to sys.path.

    A line that is a path is relative to the folder of the file.
    """
    up = '/'.join('..' for _ in site.split('/'))
    lines = [posixpath.normpath(posixpath.join(up, posixpath.relpath(r, module))) for r in roots]
    add = f"import site; site.addsitedir('{PACKAGES}')"
    return ''.join(f'{line}\n' for line in (*lines, add)).encode(errors='surrogateescape')


class PythonKits:
    """Provides an agent's sandbox with an interpreter and packages. Implements `kits.Kits`."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        """Take an empty `folder` that the sandbox's user can enter."""
        self._sandbox, self._folder, self._say = sandbox, folder, say
        self._programs = copy_programs(folder / 'programs')
        self._installed: dict[tuple[object, ...], InstalledPackages] = {}

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Install the packages of a task; return the mounts and variables that provide them.

        Raises:
            EnvironmentLost: the index no longer has them
            Transient: they cannot be installed
        """
        packages = self._install_packages(task)
        setup = PythonSetup(installed=packages, programs=self._programs)
        program = Path(setup.python)
        hidden = (TREE_FILE, PROGRAMS)
        return Kit(
            mounts=tuple(
                mount for mount in setup.list_mounts(self._programs) if mount.target not in hidden
            ),
            system=list_system_interpreter_mounts(setup.interpreter),
            beside=make_virtual_environment_files(setup, place / 'start', task.module),
            environment={
                **setup.library_variables,
                'PATH': f'{program.parent}:/usr/bin:/bin',
                'PYTHONPATH': PACKAGES,
                'PYTHONDONTWRITEBYTECODE': '1',
            },
        )

    def _install_packages(self, task: TaskRow) -> InstalledPackages:
        """Install the versions of packages with which the task was made. Raises: EnvironmentLost, Transient."""
        known = task.environment
        lines = tuple(entry.coordinates for entry in known.libraries) if known else ()
        exact = tuple(line for line in lines if re.fullmatch(r'[\w.-]+==[\w.+!-]+', line))
        interpreter = _choose_or_install_interpreter(known.runtime if known else '', self._say)
        key = (interpreter, exact)
        if key in self._installed:
            return self._installed[key]
        wheels = WheelMaker(self._sandbox, self._programs, self._folder / 'wheels' / task.task_id)

        def make(name: str, wanted: tuple[str, ...], before: datetime) -> Path | str:
            """Build a wheel for a package without one; return it, or why it cannot be built."""
            return wheels.add_wheel_and_get_folder(name, wanted, before, interpreter)

        locked = resolve_requirements(
            Needs(runtime=exact), interpreter, datetime.now(UTC), make, self._sandbox
        )
        if isinstance(locked, ResolutionFailure):
            packages: InstalledPackages | ResolutionFailure = locked
        else:
            packages = install_locked_packages(locked, interpreter, self._sandbox, self._programs)
        if isinstance(packages, ResolutionFailure):
            raise EnvironmentLost(
                f'the packages of {task.task_id} cannot be had: {packages.reason}'
            )
        self._installed[key] = packages
        return packages


def _choose_or_install_interpreter(version: str, say: Say) -> Interpreter:
    """Return the task's interpreter, else one of its feature release, else any of this machine.

    An interpreter that this machine lacks may be downloaded.

    Raises:
        Fatal: this machine has no Python
    """
    PythonSupply(brings=True, say=say).try_to_provide(version)
    interpreter = next(reversed(choose_interpreters_of_version(version, find_interpreters())), None)
    if interpreter is None:
        raise Fatal('there is no Python here; install one (apt install python3)')
    return interpreter
