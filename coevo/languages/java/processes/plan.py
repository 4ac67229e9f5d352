"""The plan of a test process: what its tree consists of, what it runs, and its JVM options."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath

from coevo.languages.core.cell_files import StandIn
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.places import TREE
from coevo.languages.java.processes.runner import RunTarget
from coevo.storage.bounded_reading import UnreadableContent, list_zip_names

# The plan of a test process: what its tree consists of and what it runs.


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


# Select the project's own JVM options that a test JVM can be started with.
#
# Left out are agents and debuggers, placeholders that only a running Maven can fill in, options for
# the collector or the initial heap size, which contradict coevo's own, and everything that would
# start another program than the worker.
#
# A module path below `target` is filled by Maven. All that it would contain is on the class path,
# so the option is left out together with the modules that it would provide.

_REFUSED = re.compile(
    r'-javaagent:|-agentlib:|-agentpath:|-Xrun|-Xdebug'
    r'|-Xms|-XX:\+Use\w+GC$|-XX:InitialHeapSize='
    r'|-XX:(Flags|VMOptionsFile)='
    r'|[^-]'  # a main class, or @ and a file of more options
)
# Options whose value is the next word; the values of `_PROGRAM` options are programs.
_WITH_VALUE = (
    *('--add-exports', '--add-modules', '--add-opens', '--add-reads', '--enable-native-access'),
    *('--limit-modules', '--module-path', '-p', '--patch-module', '--upgrade-module-path'),
    *('--class-path', '-classpath', '-cp', '--illegal-native-access'),
)
_PROGRAM = ('-jar', '--module', '-m', '--source')
_UNFILLED = ('@{', '${')
_MODULE_PATH = ('--module-path', '-p')
_MADE_BY_MAVEN = re.compile(r'(^|/)target(/|$)')
_OF_THE_JDK = re.compile(r'java\.|jdk\.|ALL-')

# Environment variables from which a JVM reads additional options.
_VARIABLES = ('JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS')


def select_usable_options(line: str) -> Iterator[str]:
    """Yield the words of a line of JVM options, such as surefire's argLine, that are allowed.

    The module's docstring says which are left out.
    """
    options = [*_parse_allowed_options(line)]
    unfilled = [option for option in options if _is_module_path_in_target(*_split_option(*option))]
    for option in options:
        name, value = _split_option(*option)
        if option in unfilled:
            continue
        if unfilled and name == '--add-modules':
            yield from _make_add_jdk_modules_option(value)
        else:
            yield from option if option[1] else option[:1]


def _parse_allowed_options(line: str) -> Iterator[tuple[str, str]]:
    """Yield each allowed option of a line with its value if that is a separate word, else with ''.

    Options with an unfilled placeholder are left out.
    """
    words = iter(_split_words(line))
    for word in words:
        value = next(words, None) if word in (*_WITH_VALUE, *_PROGRAM) else ''
        if value is None or word in _PROGRAM or _REFUSED.match(word):
            continue
        if not any(mark in text for mark in _UNFILLED for text in (word, value)):
            yield word, value


def _split_option(word: str, value: str) -> tuple[str, str]:
    """Return the option's name and its value, which may be joined by `=`."""
    name, _, joined = word.partition('=')
    return name, value or joined


def _is_module_path_in_target(name: str, value: str) -> bool:
    return name in _MODULE_PATH and all(map(_MADE_BY_MAVEN.search, value.split(':')))


def _make_add_jdk_modules_option(names: str) -> Iterator[str]:
    """Yield the option with only the modules that belong to the JDK; nothing if none is left."""
    left = [name for name in names.split(',') if _OF_THE_JDK.match(name)]
    if left:
        yield f'--add-modules={",".join(left)}'


def limit_variables_to_usable_options(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables; those with JVM options are reduced to the usable options."""
    return {
        name: shlex.join(select_usable_options(value)) if name in _VARIABLES else value
        for name, value in variables.items()
    }


def _split_words(line: str) -> Sequence[str]:
    """Return the words of a command line as a shell splits it.

    If a quote is not closed, the line is split at white space only.
    """
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
