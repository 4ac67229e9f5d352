"""The plan of a test process: what its tree consists of and what it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from coevo.languages.core.unread_files import StandIn
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.processes.runner import RunTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmAgent:
    """A Java agent to start a test JVM with; `jar` is its path in the sandbox."""

    jar: str
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitClassPath:
    """JUnit libraries to add to a test class path, before and after the project's own entries.

    They are paths in the sandbox.
    """

    first: tuple[str, ...]
    last: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """One test process: the layers of its tree, from bottom to top, and what it runs.

    `tree` is the archive of the layers, see `packed_trees`.
    """

    module: JavaModule
    layers: tuple[Path, ...]
    tree: Path
    junit: JUnitClassPath
    override: str | None
    targets: tuple[RunTarget, ...]
    class_path: tuple[str, ...] = ()  # as `Launcher.arrange_class_path` orders it
    archive: str | None = None
    removed: tuple[str, ...] = ()  # files of the layers that are left out of the tree
    stand_ins: tuple[StandIn, ...] = ()  # files of the layers of which the content is missing
    observed: bool = False  # see `runner.run_observed`
    # the environment variables that set the clock
    clock: Mapping[str, str] = field(default_factory=dict)
    cpu_limit: float | None = None  # for the whole process; None: the sum of its targets' limits
    agents: tuple[JvmAgent, ...] = ()  # JaCoCo's first, if any; see `runner.run_traced`
    reload_classes: bool = False  # reload the class path's folders for each target

    @property
    def libraries(self) -> tuple[str, ...]:
        """The jars at the head of the class path, before its first folder."""
        return tuple(takewhile(lambda place: place.endswith('.jar'), self.class_path))

    @property
    def folders(self) -> tuple[str, ...]:
        """The class path from its first folder on; it may contain jars that were not moved."""
        return self.class_path[len(self.libraries) :]
