"""The plan of a test process: what its tree consists of and what it runs."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath

from coevo.languages.core.cell_files import StandIn
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.places import TREE
from coevo.languages.java.processes.runner import RunTarget
from coevo.storage.bounded_reading import UnreadableContent, list_zip_names


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
    def leading_jars(self) -> tuple[str, ...]:
        """The jars at the head of the class path, before its first folder."""
        return tuple(takewhile(lambda place: place.endswith('.jar'), self.class_path))

    @property
    def class_path_after_leading_jars(self) -> tuple[str, ...]:
        """The class path from its first folder on; it may contain jars that were not moved."""
        return self.class_path[len(self.leading_jars) :]


# The order of a test class path: libraries first where this makes no difference to the tests.
#
# The JVM uses an archive only for libraries at the head of the class path, but Maven puts two
# folders first. A library may move before them if they share no file and no package with it: then
# each name is still found in the same place. The order never depends on whether an archive exists.

# Folders that many jars contain and that are never looked up, and a file without meaning on a class
# path.
_COMMON = frozenset({'.', 'META-INF', 'META-INF/services', 'META-INF/maven'})
_NO_RESOURCE = 'module-info.class'


def move_libraries_first(
    class_path: Sequence[str], layers: Sequence[Path], libraries: Mapping[str, Path]
) -> tuple[str, ...]:
    """Return a class path with all libraries before all folders if tests cannot notice the move.

    It is returned unchanged if a moved library shares a name with a folder, if a jar lies in the
    tree, or if a jar is unreadable.

    class_path  paths in the sandbox
    layers      folders of the host that make up the sandbox's tree
    libraries   the host's file for each library of the class path outside the tree
    """
    ahead = [entry for entry in class_path if entry in libraries]
    behind = [entry for entry in class_path if entry not in libraries]
    first_folder = next((i for i, entry in enumerate(class_path) if entry not in libraries), 0)
    passing = [entry for entry in class_path[first_folder:] if entry in libraries]
    if any(entry.endswith('.jar') for entry in behind):
        return tuple(class_path)  # a jar inside the tree, which differs between revisions
    taken = frozenset(
        name for entry in behind for name in _list_names_in_layers(entry, tuple(layers))
    )
    try:
        seen = any(not taken.isdisjoint(list_names_in_jar(libraries[entry])) for entry in passing)
    except (OSError, UnreadableContent):
        return tuple(class_path)
    return tuple(class_path) if seen else (*ahead, *behind)


@functools.lru_cache(maxsize=1024)
def list_names_in_jar(jar: Path) -> frozenset[str]:
    """Return the names of a jar's files and of the folders that contain them; the result is cached.

    Folders such as `META-INF` that many jars contain are left out.
    """
    return frozenset(_add_folders(n for n in list_zip_names(jar) if not n.endswith('/')))


def _list_names_in_layers(place: str, layers: tuple[Path, ...]) -> Iterator[str]:
    below = PurePosixPath(place).relative_to(TREE)
    for layer in layers:
        yield from _add_folders(_list_files(layer / below))


def _list_files(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        here = os.path.relpath(parent, folder)
        for name in names:
            yield os.path.normpath(f'{here}/{name}')


def _add_folders(names: Iterator[str]) -> Iterator[str]:
    for name in names:
        folder, _, base = name.rpartition('/')
        if (folder or '.') not in _COMMON:
            yield folder
        if base != _NO_RESOURCE:
            yield name
