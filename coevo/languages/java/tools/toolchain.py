"""The tools of the JVM side: a JDK, a pinned Maven, pinned libraries and RefactoringMiner; and what
a machine has of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from coevo.languages.java.tools.gradles import find_gradles
from coevo.languages.java.tools.jdks import Jdk, choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.libraries import (
    PinnedLibrary,
    digest_files,
    fetch_libraries,
    load_pins,
    locate_library_folder,
    run_java_tool,
)
from coevo.languages.runtimes import DoctorFinding, read_first_output_line
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once

# The tools of the JVM side: a JDK, a pinned Maven, pinned libraries and RefactoringMiner, with
# their versions.

_SOURCES = Path(__file__).parents[1] / 'jvm'
_PINS = _SOURCES / 'pins.toml'

# Before JDK 9 all packages of the JDK are open, `--add-opens` does not exist, and the compiler is a
# separate jar.
FIRST_WITH_MODULES = 9

# Libraries that read the execution data of JaCoCo's agent.
COVERAGE = ('org.jacoco.core', 'asm', 'asm-commons', 'asm-tree')
AGENT = 'org.jacoco.agent'

# Runners of tests that have listeners of their own, beside the JUnit Platform.
RUNNERS = ('junit', 'testng')


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """The locations of the tools; everything below `tools` and `libraries` is world-readable.

    java_home   the JDK that builds the repository's code and runs its tests
    jdk         the version of that JDK, such as 17.0.15
    tools_home  the JDK for tools that run no code of repositories, always the same
    tools       coevo's programs: worker.jar, builder.jar, extension.jar, umpire.jar, relay.jar
    libraries   the pinned jars, named ARTIFACT-VERSION.jar
    """

    java_home: Path
    jdk: str
    tools_home: Path
    maven_home: Path
    tools: Path
    libraries: Path

    @property
    def java(self) -> Path:
        """The `java` program that runs the repository's code."""
        return self.java_home / 'bin' / 'java'

    @property
    def feature(self) -> int:
        """The feature release of the repository's JDK: 8, 11, 17, …"""
        return Jdk(home=self.java_home, version=self.jdk).feature

    @property
    def builder_class_path(self) -> tuple[Path, ...]:
        """The builder's class path: itself, all of Maven and, up to JDK 8, the compiler's jar."""
        compiler = (self.java_home / 'lib' / 'tools.jar',)
        return (
            self.tools / 'builder.jar',
            *sorted((self.maven_home / 'boot').glob('*.jar')),
            *sorted((self.maven_home / 'lib').glob('*.jar')),
            *(compiler if self.feature < FIRST_WITH_MODULES else ()),
        )

    @property
    def tracer_class_path(self) -> tuple[Path, ...]:
        """The class path of the reader of execution data: no Maven except for its JSON library."""
        (gson,) = (self.maven_home / 'lib').glob('gson-*.jar')
        return (self.tools / 'builder.jar', gson, *map(self.locate_library, COVERAGE))

    def locate_library(self, artifact: str) -> Path:
        """Return the path of the pinned jar with this artifactId, which must be pinned."""
        (library_pin,) = (pin for pin in load_toolchain_pins() if pin.artifact == artifact)
        return self.libraries / library_pin.file  # own name: of a list of coevo's


@cache
def load_toolchain_pins() -> tuple[PinnedLibrary, ...]:
    """Return the libraries that the package's `jvm/pins.toml` lists; cached."""
    return load_pins(_PINS)


def prepare_toolchain(say: Say = lambda line: None, chosen: Jdk | None = None) -> Toolchain:
    """Return the tools; fetch and compile what is missing, and report slow steps with `say`.

    `chosen` is the JDK for the repository's code; if None, it is the one that runs coevo's tools.
    """
    jdk = choose_jdk_for_tools(find_jdks())
    code = chosen or jdk
    folder = find_cache_folder() / 'tools'
    libraries = fetch_libraries(_PINS, jdk, say, 'Maven and the JUnit libraries')
    tools = folder / f'programs-{_make_programs_key(jdk, libraries)}'  # own name: a digest
    if not tools.is_dir():
        with build_folder_once(tools) as new:
            if new is not None:
                _compile_programs(new, jdk, libraries, say)
    (maven_home,) = libraries.glob('apache-maven-*/')
    return Toolchain(
        java_home=code.home,
        jdk=code.version,
        tools_home=jdk.home,
        maven_home=maven_home,
        tools=tools,
        libraries=libraries,
    )


# -- compiling coevo's programs ------------------------------------------------------------------


def _make_programs_key(jdk: Jdk, libraries: Path) -> str:
    files = sorted(path for path in _SOURCES.rglob('*') if path.is_file())
    text = f'{jdk.home}\0{jdk.version}\0{libraries.name}\0{digest_files(*files)}'
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _compile_programs(folder: Path, jdk: Jdk, libraries: Path, say: Say) -> None:
    say('compiling the JVM programs (once)')
    maven = sorted(libraries.glob('apache-maven-*/lib/*.jar'))
    platform = sorted(libraries.glob('junit-platform-*.jar'))
    annotations = sorted(libraries.glob('apiguardian-*.jar'))
    boot = sorted(libraries.glob('apache-maven-*/boot/*.jar'))
    coverage = [libraries / pin.file for pin in load_toolchain_pins() if pin.artifact in COVERAGE]
    agent = [libraries / pin.file for pin in load_toolchain_pins() if pin.artifact == AGENT]
    compile_program(folder / 'worker.jar', jdk, ['--release', '8'], platform + annotations + agent)
    # `--release 8` does not expose the compiler's own interface.
    source_8 = ['-source', '8', '-target', '8', '-Xlint:-options']
    compile_program(folder / 'builder.jar', jdk, source_8, maven + boot + coverage)
    compile_program(folder / 'extension.jar', jdk, ['--release', '8'], maven + boot)
    runners = [libraries / pin.file for pin in load_toolchain_pins() if pin.artifact in RUNNERS]
    compile_program(
        folder / 'umpire.jar', jdk, ['--release', '8'], platform + annotations + runners
    )
    compile_program(folder / 'relay.jar', jdk, [], [])


def compile_program(jar: Path, jdk: Jdk, options: list[str], class_path: list[Path]) -> None:
    """Compile coevo's program of the jar's name, and write its classes and resources to the jar.

    The sources of `worker.jar` are those in `jvm/worker`. `options` are options of javac.
    """
    with tempfile.TemporaryDirectory(dir=jar.parent) as classes:
        libraries = os.pathsep.join(map(str, class_path))
        command = [str(jdk.home / 'bin' / 'javac'), '-nowarn', '-proc:none', '-encoding', 'UTF-8']
        sources = sorted((_SOURCES / jar.stem).rglob('*.java'))
        command += [*options, '-cp', libraries, '-d', classes, *map(str, sources)]
        run_java_tool(command, jdk, f'javac could not compile coevo/languages/java/jvm/{jar.stem}')
        resources = _SOURCES / jar.stem / 'resources'
        if resources.is_dir():
            shutil.copytree(resources, classes, dirs_exist_ok=True)
        _pack_jar(jar, Path(classes))


def _pack_jar(jar: Path, classes: Path) -> None:
    with zipfile.ZipFile(jar, 'w', zipfile.ZIP_DEFLATED) as zipped:
        for file in sorted(path for path in classes.rglob('*') if path.is_file()):
            zipped.writestr(
                zipfile.ZipInfo(file.relative_to(classes).as_posix()), file.read_bytes()
            )


_REFACTORING_MINER_PINS = Path(__file__).parents[1] / 'jvm' / 'refactoring_miner.toml'


def get_refactoring_miner_version() -> str:
    """Return the version that detects the refactorings in the data, such as 3.0.10."""
    (miner_pin,) = (
        pin for pin in load_pins(_REFACTORING_MINER_PINS) if pin.artifact == 'refactoring-miner'
    )
    return miner_pin.coordinates.split(':')[2]


def is_refactoring_miner_fetched() -> bool:
    """Return whether the jars of RefactoringMiner are in the tool cache."""
    return locate_library_folder(_REFACTORING_MINER_PINS).is_dir()


def fetch_refactoring_miner_jars(jdk: Jdk, say: Say = lambda line: None) -> tuple[Path, ...]:
    """Return the jars of RefactoringMiner in the order of the pins; fetch missing ones."""
    folder = fetch_libraries(_REFACTORING_MINER_PINS, jdk, say, 'RefactoringMiner')
    return tuple(folder / pin.file for pin in load_pins(_REFACTORING_MINER_PINS))


# By artifactId. A project's own JUnit is preferred; these are for projects with none, or with one
# too old.
_PINNED = {
    'org.jacoco.core': 'jacoco',
    'junit-platform-launcher': 'junit-platform',
    'junit-vintage-engine': 'junit-vintage',
    'testng-engine': 'testng-engine',
}
_MUTATOR = 'universalmutator'


@cache
def list_tool_versions() -> tuple[str, ...]:
    """Return `name version` for each pinned tool that influences the measurements, sorted.

    `universalmutator` is left out if it is not installed.
    """
    versions = {
        _PINNED[pin.artifact]: pin.coordinates.split(':')[2]
        for pin in load_toolchain_pins()
        if pin.artifact in _PINNED
    }
    versions['refactoring-miner'] = get_refactoring_miner_version()
    # the mutator is not installed, so nothing was mutated here
    with contextlib.suppress(metadata.PackageNotFoundError):
        versions[_MUTATOR] = metadata.version(_MUTATOR)
    return tuple(f'{name} {version}' for name, version in sorted(versions.items()))


# Check which tools for Java this machine has.


def inspect_machine() -> Iterator[DoctorFinding]:
    """Check the machine; yield what was found for each tool that Java needs, present or not.

    They are JDKs, Maven, Gradle, the tool cache and RefactoringMiner.
    """
    yield from _check_jdks()
    yield _check_maven()
    yield from _check_gradles()
    yield _check_tool_cache()
    yield _check_refactoring_miner()


def _check_jdks() -> Iterator[DoctorFinding]:
    jdks = find_jdks()
    try:
        chosen = choose_jdk_for_tools(jdks)
    except Fatal as error:
        yield DoctorFinding(
            name='JDK', good=False, state='none is 17 or newer', advice=str(error).split('; ')[-1]
        )
        chosen = None
    for jdk in jdks:
        note = ", which runs coevo's own programs" if jdk == chosen else ''
        yield DoctorFinding(name='JDK', good=True, state=f'{jdk.version} in {jdk.home}{note}')


def _check_maven() -> DoctorFinding:
    version = read_first_output_line('mvn', '--batch-mode', '--version')
    if version is None:
        return DoctorFinding(
            name='Maven', good=False, state='not found', advice='install it (apt install maven)'
        )
    return DoctorFinding(name='Maven', good=True, state=version.removeprefix('Apache Maven '))


def _check_gradles() -> Iterator[DoctorFinding]:
    gradles = find_gradles()
    if not gradles:
        yield DoctorFinding(
            name='Gradle',
            good=False,
            needed=False,
            state='none was found',
            advice='without it, no project built by Gradle is mined: set GRADLE_HOME, or put `gradle` on PATH',
        )
    for gradle in gradles:
        yield DoctorFinding(name='Gradle', good=True, state=f'{gradle.version} in {gradle.home}')


def _check_tool_cache() -> DoctorFinding:
    tools = find_cache_folder() / 'tools'
    filled = any(tools.glob('programs-*/worker.jar'))
    return DoctorFinding(
        name='tool cache',
        good=filled,
        needed=False,
        state=f'{"filled" if filled else "still empty"}: {tools}',
        advice=None if filled else 'the first run of `coevo mine` fills it',
    )


def _check_refactoring_miner() -> DoctorFinding:
    """Return the finding on RefactoringMiner; it needs its jars, JPype and a JDK 17 or newer."""
    name = f'RefactoringMiner {get_refactoring_miner_version()}'
    lacking = list(_list_missing_miner_parts())
    return DoctorFinding(
        name=name,
        good=not lacking,
        needed=False,
        state=f'no {" and no ".join(lacking)}'
        if lacking
        else 'its jars, JPype and a JDK are there',
        advice='without it, refactorings are unknown and tracks are withheld; the first run of'
        ' `coevo mine` fetches the jars, `make setup` installs the rest'
        if lacking
        else None,
    )


def _list_missing_miner_parts() -> Iterator[str]:
    if not is_refactoring_miner_fetched():
        yield 'jars in the tool cache'
    if find_spec('jpype') is None:
        yield 'JPype'
    if not any(jdk.can_run_tools for jdk in find_jdks()):
        yield 'JDK 17 or newer'
