"""Provide agents with what tests need offline: an interpreter and the packages of the task."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from coevo.languages.kits import EnvironmentLost, Kit
from coevo.languages.python.environments import InstalledPackages, install_locked
from coevo.languages.python.interpreters import Interpreter, find_interpreters
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.places import PACKAGES, PROGRAMS, TREE_FILE
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import ResolutionFailure, resolve_requirements
from coevo.languages.python.run_context import copy_programs
from coevo.languages.python.shown_interpreter import list_system_mounts
from coevo.languages.python.supply import PythonSupply, choose_interpreters_of_version
from coevo.languages.python.virtual_environment import make_virtual_environment
from coevo.languages.python.wheels import WheelMaker
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Sandbox


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
            system=list_system_mounts(setup.interpreter),
            beside=make_virtual_environment(setup, place / 'start', task.module),
            environment={
                **setup.libraries,
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
        interpreter = _choose_interpreter(known.runtime if known else '', self._say)
        key = (interpreter, exact)
        if key in self._installed:
            return self._installed[key]
        wheels = WheelMaker(self._sandbox, self._programs, self._folder / 'wheels' / task.task_id)

        def make(name: str, wanted: tuple[str, ...], before: datetime) -> Path | str:
            """Build a wheel for a package without one; return it, or why it cannot be built."""
            return wheels.make_wheel(name, wanted, before, interpreter)

        locked = resolve_requirements(
            Needs(runtime=exact), interpreter, datetime.now(UTC), make, self._sandbox
        )
        if isinstance(locked, ResolutionFailure):
            packages: InstalledPackages | ResolutionFailure = locked
        else:
            packages = install_locked(locked, interpreter, self._sandbox)
        if isinstance(packages, ResolutionFailure):
            raise EnvironmentLost(
                f'the packages of {task.task_id} cannot be had: {packages.reason}'
            )
        self._installed[key] = packages
        return packages


def _choose_interpreter(version: str, say: Say) -> Interpreter:
    """Return the task's interpreter, else one of its feature release, else any of this machine.

    An interpreter that this machine lacks may be downloaded.

    Raises:
        Fatal: this machine has no Python
    """
    PythonSupply(brings=True, say=say).can_provide(version)
    interpreter = next(reversed(choose_interpreters_of_version(version, find_interpreters())), None)
    if interpreter is None:
        raise Fatal('there is no Python here; install one (apt install python3)')
    return interpreter
