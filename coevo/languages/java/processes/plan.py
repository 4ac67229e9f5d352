"""A test process as it is planned: what its tree is made of, and what it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.processes.runner import RunTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmAgent:
    """An agent of a test JVM, its jar in the sandbox."""

    jar: str
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitClassPath:
    """Class path entries in the sandbox, before and behind the project's own."""

    first: tuple[str, ...]
    last: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """One test process: what is laid into its tree, layer over layer, and what it runs.

    tree  the archive of its layers, see `packed_trees`
    """

    module: JavaModule
    layers: tuple[Path, ...]
    tree: Path
    junit: JUnitClassPath
    override: str | None
    targets: tuple[RunTarget, ...]
    class_path: tuple[str, ...] = ()  # as `Launcher.arranged` has it
    archive: str | None = None
    removed: tuple[str, ...] = ()  # files of the layers that are not laid out
    observed: bool = False  # see `runner.run_observed`
    clock: Mapping[str, str] = field(default_factory=dict)  # variables of `Clock.environment`
    cpu_limit: float | None = None  # of the whole process; None is what its targets may use
    agents: tuple[JvmAgent, ...] = ()  # JaCoCo's first, if any; see `runner.run_traced`
    reload_classes: bool = False  # folders of the class path are loaded again for each target

    @property
    def libraries(self) -> tuple[str, ...]:
        """What stands before the first folder of the class path."""
        return tuple(takewhile(lambda place: place.endswith('.jar'), self.class_path))

    @property
    def folders(self) -> tuple[str, ...]:
        """What stands behind them: folders, where libraries could all be put first."""
        return self.class_path[len(self.libraries) :]
