"""Run one cell of a pair by the plain way of Java: Maven compiles, then a fresh JVM for each method.

The protocol of TestEvo-Bench, A.2: Maven compiles the cell's module and says its class path; JUnit's console launcher
runs each method in a JVM of its own. It knows nothing of surefire's settings.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmarks.oracles.driver import Answer, Place, PlainCells, open_tree_folder
from benchmarks.oracles.trees import write_cell
from coevo.git.repository import Repository
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.languages.java.revisions.shared_builds import make_jdk_mount_outside_usr
from coevo.languages.java.tools.artifacts import ArtifactProxy, list_upstreams
from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.toolchain import Toolchain, prepare_toolchain
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Mount
from coevo.storage.disk import find_cache_folder

_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1'
_CONSOLE = 'org.junit.platform:junit-platform-console-standalone'

# By the JUnit that they fit; see `inside.java_cell`.
_CONSOLES = {'5.11': '1.11.4', '5.13': '1.13.4', '6': '6.0.1'}

# Plugins that judge or publish code, by the properties that they ask.
_STYLE_OFF = (
    *('-Danimal.sniffer.skip', '-Dcheckstyle.skip', '-Dcpd.skip', '-Denforcer.skip'),
    *('-Dfindbugs.skip', '-Dfmt.skip', '-Dformatter.skip', '-Dimpsort.skip', '-Djacoco.skip'),
    *('-Dlicense.skip', '-Dlicense.skipCheckLicense', '-Dmaven.gitcommitid.skip'),
    *('-Dpmd.skip', '-Drat.skip', '-Dsort.skip', '-Dspotbugs.skip', '-Dspotless.check.skip'),
)

C1 = ('-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1')


class Flags(StrEnum):
    DEFAULT = 'default'
    C1 = 'c1'

    @property
    def options(self) -> tuple[str, ...]:
        return C1 if self is Flags.C1 else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTarget:
    """A method to run, and the override of the engine that is applied to it, if that is a workaround."""

    method: TestMethod
    override: str | None = None


class JavaBench:
    """Sandbox, tools and libraries of the oracle, for one repository after the other."""

    def __init__(self, stack: ExitStack, jdk: Jdk) -> None:
        self._tools: Toolchain = prepare_toolchain(chosen=jdk)
        self._plain = PlainCells(stack, 'java_cell')
        self._consoles = fetch_consoles(find_cache_folder() / 'consoles')
        self._shared = find_cache_folder() / 'maven'
        self._proxy = stack.enter_context(
            ArtifactProxy(list_upstreams(), self._shared, self._plain.root / 'artifacts')
        )

    def run(
        self, repository: Repository, place: Place, targets: Sequence[CellTarget], flags: Flags
    ) -> Answer:
        """Run the methods; Transient if libraries could not be fetched or the driver itself failed."""
        home = str(self._tools.java_home)
        with open_tree_folder(self._plain.root) as tree:
            write_cell(repository, place.tests_rev, place.code_rev, tree)
            raise_literals(tree)
            before = self._proxy.trouble
            answer = self._plain.ask(
                tree,
                self._make_request(flags, place, targets, choose_level_properties(tree)),
                mounts=(
                    Mount(source=self._shared, target='/repo'),
                    Mount(source=self._tools.libraries, target='/tools/libraries'),
                    Mount(source=find_cache_folder() / 'consoles', target='/tools/consoles'),
                    *make_jdk_mount_outside_usr(self._tools.java_home),
                ),
                sockets=(Mount(source=self._proxy.socket, target='/run/coevo-artifacts'),),
                environment={
                    'JAVA_HOME': home,
                    'PATH': f'{home}/bin:/usr/bin:/bin',
                    'MAVEN_OPTS': ' '.join(flags.options),
                },
            )
        if self._proxy.trouble != before:
            raise Transient('libraries could not be fetched; check the network')
        return answer

    def _make_request(
        self, flags: Flags, place: Place, targets: Sequence[CellTarget], levels: Sequence[str]
    ) -> dict[str, Any]:
        inside = {name: f'/tools/consoles/{file.name}' for name, file in self._consoles.items()}
        return {
            'module': place.module,
            'maven': f'/tools/libraries/{self._tools.maven_home.name}/bin/mvn',
            'class_path_goal': f'{_PLUGIN}:build-classpath',
            'properties': [*_STYLE_OFF, *levels],
            'java': str(self._tools.java),
            'jvm_options': flags.options,
            'consoles': inside,
            'methods': [self._describe(target) for target in targets],
        }

    def _describe(self, target: CellTarget) -> dict[str, Any]:
        """A method for the driver: `first` goes before its class path, `options` to its JVM."""
        workaround = WORKAROUNDS.get(target.override or '')
        libraries = workaround.libraries if workaround else ()
        return {
            'class': target.method.test_class,
            'name': target.method.test_method,
            'parameters': target.method.parameters,
            'first': [
                f'/tools/libraries/{self._tools.locate_library(artifact).name}'
                for artifact in libraries
            ],
            'options': workaround.jvm_options if workaround else (),
        }


def fetch_consoles(folder: Path) -> dict[str, Path]:
    """Fetch the console launchers by this machine's own Maven where they are not there yet."""
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


# Raise source levels that the JDK refuses as a person would: properties first, then the POM.

PROPERTIES = ('-Dmaven.compiler.source=8', '-Dmaven.compiler.target=8')

_LEVEL = re.compile(
    r'<(?:maven\.compiler\.)?(?:testSource|testTarget|testRelease|source|target|release)>'
    r'\s*(?:(?P<level>[\d.]+)|\$\{(?P<name>[\w.-]+)\})\s*</'
)
_REFUSED = r'(?:1\.)?[1-6](?:\.0)?'


def choose_level_properties(tree: Path) -> Sequence[str]:
    """Choose Maven's level-8 properties, unless some POM of the tree asks for more than 8."""
    levels = [level for pom in _list_poms(tree) for level in _read_levels(pom)]
    return () if any(level > 8 for level in levels) else PROPERTIES


def raise_literals(tree: Path) -> None:
    """Put 8 in place of levels below 7 that stand in a POM, where properties cannot reach."""
    for pom in _list_poms(tree):
        text = pom.read_text(errors='surrogateescape')
        names = {match['name'] for match in _LEVEL.finditer(text) if match['name']}
        for name in (*names, 'source', 'target', 'release'):
            tag = re.escape(name)
            text = re.sub(rf'<{tag}>\s*{_REFUSED}\s*</{tag}>', f'<{name}>8</{name}>', text)
        pom.write_text(text, errors='surrogateescape')


def _list_poms(tree: Path) -> Iterator[Path]:
    return (path for path in sorted(tree.rglob('pom.xml')) if not path.is_symlink())


def _read_levels(pom: Path) -> Iterator[int]:
    text = pom.read_text(errors='replace')
    for match in _LEVEL.finditer(text):
        literal = match['level'] or _read_property(text, match['name'])
        numbers = re.findall(r'\d+', literal or '')
        if numbers:
            yield int(numbers[-1] if numbers[0] == '1' and len(numbers) > 1 else numbers[0])


def _read_property(text: str, name: str) -> str | None:
    found = re.search(rf'<{re.escape(name)}>\s*([\d.]+)\s*</', text)
    return found[1] if found else None
