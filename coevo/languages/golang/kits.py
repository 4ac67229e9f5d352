"""Provides agents with what they need to run tests offline: a toolchain and the task's modules."""

from __future__ import annotations

from pathlib import Path

from coevo.languages.golang.launch import make_variables
from coevo.languages.golang.module_store import download_modules, list_module_paths
from coevo.languages.golang.reading.layout import GO_MOD
from coevo.languages.golang.supply import GoSupply
from coevo.languages.golang.toolchains import (
    MODULES,
    GoToolchain,
    find_toolchains,
    locate_module_cache,
    select_toolchains_of_version,
)
from coevo.languages.kits import Kit
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Mount, Sandbox


class GoKits:
    """The maker of kits for tasks in Go; see `coevo.languages.kits.Kits`."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        """Take the listener of the run; `sandbox` and `folder` are not used."""
        self._say = say

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return the toolchain and modules of a task as mounts, and variables of the go command.

        What the machine lacks is downloaded.

        Raises:
            Fatal: there is no toolchain on this machine.
            DamagedSnapshot: the task names a module that cannot exist.
            Transient: a module must be downloaded, and no proxy replies.
        """
        toolchain = _find_toolchain(task.environment.runtime if task.environment else '', self._say)
        libraries = task.environment.libraries if task.environment else ()
        if libraries:
            download_modules(toolchain, libraries)
        modules = Mount(source=locate_module_cache(), target=MODULES)
        runtime = Mount(source=toolchain.home, target=toolchain.home_in_sandbox)
        is_system = toolchain.home_in_sandbox.startswith('/usr/')
        return Kit(
            mounts=(modules,) if is_system else (modules, runtime),
            system=(runtime,) if is_system else (),
            selected={MODULES: tuple(list_module_paths(libraries))},
            environment={**make_variables(toolchain), 'GOCACHE': '/tmp/go-cache'},
            # A revision from before modules gets a made-up go.mod where it is mined, and none here.
            is_whole=task.module != '.' or (place / 'start' / GO_MOD).is_file(),
        )


def _find_toolchain(version: str, say: Say) -> GoToolchain:
    """Return the toolchain with which a task was made; else one of its release, else the newest.

    A missing release is installed if possible.

    Raises:
        Fatal: there is no toolchain on this machine.
    """
    supply = GoSupply(brings=True, say=say)
    if version:
        supply.can_provide(version)
    known = select_toolchains_of_version(version, supply.known) or find_toolchains()
    if not known:
        raise Fatal('there is no Go here; install one (apt install golang-go)')
    return max(known, key=lambda one: one.numbers)
