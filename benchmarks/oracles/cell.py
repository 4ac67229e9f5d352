"""Run one cell of a pair by an oracle: the tree is written, mounted, built and run in a sandbox.

A, console   Maven compiles the cell's module and says its class path; then a fresh JVM with
             JUnit's console launcher for each method (TestEvo-Bench, A.2)
B, surefire  `mvn test -Dtest=Class#method` for each method
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmarks.oracles.driver import LIMITS, ask, place_of_tree, readable_programs
from benchmarks.oracles.levels import level_properties, raise_literals
from benchmarks.oracles.trees import write_cell
from coevo.git.repository import Repository
from coevo.languages.java.revisions.shared_builds import mount_foreign_jdk
from coevo.languages.java.tools.artifacts import ArtifactProxy, list_upstreams
from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.toolchain import Toolchain, prepare_toolchain
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Mount, Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace
from coevo.storage.folders import find_cache_folder

_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1'
_CONSOLE = 'org.junit.platform:junit-platform-console-standalone'

# By the JUnit that they fit; see `inside.main`.
_CONSOLES = {'5.11': '1.11.4', '5.13': '1.13.4', '6': '6.0.1'}

# Plugins that judge or publish code, by the properties that they ask.
_STYLE_OFF = (
    *('-Danimal.sniffer.skip', '-Dcheckstyle.skip', '-Dcpd.skip', '-Denforcer.skip'),
    *('-Dfindbugs.skip', '-Dfmt.skip', '-Dformatter.skip', '-Dimpsort.skip', '-Djacoco.skip'),
    *('-Dlicense.skip', '-Dlicense.skipCheckLicense', '-Dmaven.gitcommitid.skip'),
    *('-Dpmd.skip', '-Drat.skip', '-Dsort.skip', '-Dspotbugs.skip', '-Dspotless.check.skip'),
)

C1 = ('-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1')

# Python's isolated mode leaves the program's own folder out.
_START = 'import sys; sys.path.insert(0, "/tools"); from inside.main import main; main()'


class Oracle(StrEnum):
    A = 'console'
    B = 'surefire'


class Flags(StrEnum):
    DEFAULT = 'default'
    C1 = 'c1'

    @property
    def options(self) -> tuple[str, ...]:
        return C1 if self is Flags.C1 else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A cell of a pair, in one module."""

    tests_rev: str
    code_rev: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A method to run; `first` goes before its class path, `options` to its JVM (oracle A).

    written  a file of the sandbox that this JVM writes, for the ruling
    """

    method: TestMethod
    first: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    written: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What an oracle says of one method; `log` is for people, never for a verdict."""

    outcome: Outcome
    exception: str
    seconds: float
    log: str
    written: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """CPU seconds of Maven before the methods (0 for B) and of each method's processes."""

    build_seconds: float
    rulings: tuple[Ruling, ...]
    log: str

    @property
    def seconds(self) -> float:
        return self.build_seconds + sum(ruling.seconds for ruling in self.rulings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """Whether Maven compiles the code of a revision, its CPU seconds, and what it said if not."""

    built: bool
    build_seconds: float
    log: str


class Bench:
    """Sandbox, tools and libraries of the oracles, for one repository after the other."""

    def __init__(
        self, stack: ExitStack, mounts: Sequence[Mount] = (), jdk: Jdk | None = None
    ) -> None:
        """`mounts` are there beside its own; `jdk` is the machine's own choice if None."""
        self._tools: Toolchain = prepare_toolchain(chosen=jdk)
        self._mounts = (*mounts, *mount_foreign_jdk(self._tools.java_home))
        self._sandbox: Sandbox = open_sandbox('bubblewrap')
        stack.callback(self._sandbox.close)
        self._consoles = fetch_consoles(find_cache_folder() / 'consoles')
        self._root = stack.enter_context(open_workspace())
        self._shared = find_cache_folder() / 'maven'
        self._proxy = stack.enter_context(
            ArtifactProxy(list_upstreams(), self._shared, self._root / 'artifacts')
        )

    @property
    def _maven(self) -> str:
        return f'/tools/libraries/{self._tools.maven_home.name}/bin/mvn'

    def library(self, artifact: str) -> str:
        """Where a test's JVM sees one of the engine's pinned libraries."""
        return f'/tools/libraries/{self._tools.locate_library(artifact).name}'

    def run(
        self,
        oracle: Oracle,
        flags: Flags,
        repository: Repository,
        place: Place,
        targets: Sequence[Target],
        edits: Mapping[str, str] | None = None,
    ) -> Answer:
        """Transient if libraries could not be fetched or the driver itself failed.

        edits  texts of files, by path, that stand in place of the revisions'
        """
        with self._tree(repository, place) as tree:
            for path, text in (edits or {}).items():
                (tree / path).write_text(text)
            request = self._request(oracle, flags, place, targets, level_properties(tree))
            return _answer(self._ask(request, flags, tree))

    def compile(self, repository: Repository, rev: str) -> Compiled:
        """`mvn compile` of a revision as it is; Transient if libraries could not be fetched."""
        with place_of_tree(self._root) as tree:
            repository.materialise(rev, tree)
            request = {'oracle': 'compile', 'module': '', 'maven': self._maven, 'properties': []}
            return Compiled(**self._ask(request, Flags.DEFAULT, tree))

    @contextmanager
    def _tree(self, repository: Repository, place: Place) -> Iterator[Path]:
        with place_of_tree(self._root) as tree:
            write_cell(repository, place.tests_rev, place.code_rev, tree)
            raise_literals(tree)
            yield tree

    def _request(
        self,
        oracle: Oracle,
        flags: Flags,
        place: Place,
        targets: Sequence[Target],
        levels: Sequence[str],
    ) -> dict[str, Any]:
        inside = {name: f'/tools/consoles/{file.name}' for name, file in self._consoles.items()}
        return {
            'oracle': str(oracle),
            'module': place.module,
            'maven': self._maven,
            'class_path_goal': f'{_PLUGIN}:build-classpath',
            'properties': [*_STYLE_OFF, *levels],
            'java': str(self._tools.java),
            'jvm_options': flags.options,
            'consoles': inside,
            'methods': [
                {
                    'class': target.method.test_class,
                    'name': target.method.test_method,
                    'parameters': target.method.parameters,
                    'first': target.first,
                    'options': target.options,
                    'written': target.written,
                }
                for target in targets
            ],
        }

    def _ask(self, request: dict[str, Any], flags: Flags, tree: Path) -> dict[str, Any]:
        home = str(self._tools.java_home)
        job = Job(
            argv=('/usr/bin/python3', '-I', '-B', '-c', _START),
            mounts=(
                Mount(source=tree, target='/in/tree'),
                Mount(source=self._shared, target='/repo'),
                Mount(source=self._tools.libraries, target='/tools/libraries'),
                Mount(source=find_cache_folder() / 'consoles', target='/tools/consoles'),
                Mount(source=readable_programs(self._root), target='/tools/inside'),
                *self._mounts,
            ),
            sockets=(Mount(source=self._proxy.socket, target='/run/coevo-artifacts'),),
            limits=LIMITS,
            environment={
                'JAVA_HOME': home,
                'PATH': f'{home}/bin:/usr/bin:/bin',
                'MAVEN_OPTS': ' '.join(flags.options),
            },
        )
        before = self._proxy.trouble
        answer = ask(self._sandbox, job, request)
        if self._proxy.trouble != before:
            raise Transient('libraries could not be fetched; check the network')
        return answer


def fetch_consoles(folder: Path) -> dict[str, Path]:
    """The console launchers, fetched by this machine's own Maven where they are not there yet."""
    files = {
        name: folder / f'{_CONSOLE.partition(":")[2]}-{version}.jar'
        for name, version in _CONSOLES.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        if not file.is_file():
            wanted = f'-Dartifact={_CONSOLE}:{_CONSOLES[name]}'
            command = ['mvn', '-q', '-B', f'{_PLUGIN}:copy', wanted, f'-DoutputDirectory={folder}']
            subprocess.run(command, check=True, cwd=folder)
            file.chmod(0o644)
    return files


def _answer(found: dict[str, Any]) -> Answer:
    return Answer(
        build_seconds=found['build_seconds'],
        rulings=tuple(
            Ruling(**{**one, 'outcome': Outcome(one['outcome'])}) for one in found['methods']
        ),
        log=found['log'],
    )
