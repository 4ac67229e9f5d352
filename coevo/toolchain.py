"""The JVM side's tools: a JDK, a pinned Maven, pinned libraries and our own programs.

They are fetched and compiled on first use into the tool cache; later uses touch no network.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from coevo.errors import Fatal
from coevo.errors import Transient
from coevo.folders import cache_folder
from coevo.jdks import Jdk
from coevo.jdks import choose_jdk
from coevo.jdks import find_jdks

Say = Callable[[str], None]

_SOURCES = Path(__file__).with_name('jvm')
# The source folders of each jar.
_PROGRAMS = {'worker': ('worker',), 'builder': ('builder', 'relay'), 'extension': ('extension',)}

_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Where the tools lie; everything below `tools` and `libraries` is world-readable.

    java_home     the JDK that builds the repository's code and runs its tests
    jdk           its version, such as 17.0.15
    builder_home  the JDK that our builder runs on: the same, unless that is too old for it
    tools       our programs: worker.jar, builder.jar, extension.jar
    libraries   the pinned jars, named ARTIFACT-VERSION.jar
    """

    java_home: Path
    jdk: str
    builder_home: Path
    maven_home: Path
    tools: Path
    libraries: Path

    @property
    def jdk_feature(self) -> int:
        """8, 11, 17, … of the JDK that the code is for."""
        return Jdk(home=self.java_home, version=self.jdk).feature

    @property
    def java(self) -> Path:
        return self.java_home / 'bin' / 'java'

    @property
    def feature(self) -> int:
        """8, 11, 17, …"""
        return Jdk(home=self.java_home, version=self.jdk).feature

    @property
    def builder_class_path(self) -> tuple[Path, ...]:
        """What the builder runs on: itself and all of Maven."""
        maven = sorted((self.maven_home / 'boot').glob('*.jar'))
        return (
            self.tools / 'builder.jar',
            *maven,
            *sorted((self.maven_home / 'lib').glob('*.jar')),
        )

    def library(self, artifact: str) -> Path:
        """The pinned jar of an artifactId."""
        (found,) = (pin for pin in pins() if pin.artifact == artifact)
        return self.libraries / found.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A library that is fetched once and must have this checksum."""

    coordinates: str  # group:artifact:version[:type:classifier]
    sha256: str

    @property
    def artifact(self) -> str:
        return self.coordinates.split(':')[1]

    @property
    def file(self) -> str:
        _, artifact, version, *rest = self.coordinates.split(':')
        kind, classifier = rest or ('jar', '')
        return '-'.join(filter(None, (artifact, version, classifier))) + f'.{kind}'


@cache
def pins() -> tuple[Pin, ...]:
    """The pinned libraries, from the package's `jvm/pins.toml`."""
    table = tomllib.loads((_SOURCES / 'pins.toml').read_text())
    return tuple(Pin(**row) for row in table['library'])


def toolchain(say: Say = lambda line: None, chosen: Jdk | None = None) -> Toolchain:
    """The tools, fetched and compiled if they are not there yet; `say` hears what takes a while.

    chosen  the JDK of the repository's code; the machine's own choice if None
    """
    base = choose_jdk(find_jdks())
    code = chosen or base
    jdk = code if code.runs_builder else base
    folder = cache_folder() / 'tools'
    libraries = folder / f'libraries-{_digest(_SOURCES / "pins.toml")}'
    if not libraries.is_dir():
        with _building(libraries) as new:
            if new is not None:
                _fetch(new, jdk, say)
    tools = folder / f'programs-{_programs_key(jdk, libraries)}'
    if not tools.is_dir():
        with _building(tools) as new:
            if new is not None:
                _compile_programs(new, jdk, libraries, say)
    (maven_home,) = libraries.glob('apache-maven-*/')
    return Toolchain(
        java_home=code.home,
        jdk=code.version,
        builder_home=jdk.home,
        maven_home=maven_home,
        tools=tools,
        libraries=libraries,
    )


# -- one folder, built once --------------------------------------------------------------------


@contextlib.contextmanager
def _building(target: Path) -> Iterator[Path | None]:
    """A temporary folder that becomes `target` in the end; None if another process made it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(target.name + '.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir():
            yield None
            return
        with tempfile.TemporaryDirectory(dir=target.parent, prefix='.new-') as scratch:
            new = Path(scratch) / target.name
            new.mkdir()
            yield new
            _open_to_all(new)
            new.rename(target)


def _open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob('*')):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b'\0' + file.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


# -- fetching ----------------------------------------------------------------------------------


def _fetch(folder: Path, jdk: Jdk, say: Say) -> None:
    maven = shutil.which('mvn')
    if maven is None:
        raise Fatal('Maven was not found on PATH; install it (apt install maven) and run again')
    say('fetching Maven and the JUnit libraries (once)')
    (folder / 'pom.xml').write_text(_pom(folder))
    command = [maven, '-q', '-B', '-f', str(folder / 'pom.xml'), _COPY]
    _run(command, jdk, 'Maven could not fetch the pinned libraries; check its network and settings')
    (folder / 'pom.xml').unlink()
    for pin in pins():
        _verify(folder / pin.file, pin)
    for distribution in folder.glob('*.zip'):
        _unpack(distribution, folder)
        distribution.unlink()


def _pom(folder: Path) -> str:
    return f"""<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>coevo</groupId><artifactId>tools</artifactId><version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <configuration>
      <outputDirectory>{escape(str(folder))}</outputDirectory>
      <artifactItems>{''.join(map(_item, pins()))}</artifactItems>
    </configuration>
  </plugin></plugins></build>
</project>"""


def _item(pin: Pin) -> str:
    names = ('groupId', 'artifactId', 'version', 'type', 'classifier')
    values = zip(names, pin.coordinates.split(':'), strict=False)
    inner = ''.join(f'<{name}>{value}</{name}>' for name, value in values)
    return f'<artifactItem>{inner}</artifactItem>'


def _verify(file: Path, pin: Pin) -> None:
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != pin.sha256:
        raise Fatal(
            f'{pin.coordinates} has checksum {found} instead of {pin.sha256}: your Maven mirror'
            ' or local repository holds another file; delete it there and run again'
        )


def _unpack(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for entry in zipped.infolist():
            path = Path(zipped.extract(entry, folder))
            path.chmod((entry.external_attr >> 16) & 0o777 or 0o644)


def _run(command: list[str], jdk: Jdk, sentence: str) -> None:
    done = subprocess.run(
        command,
        check=False,
        env={**os.environ, 'JAVA_HOME': str(jdk.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise Transient(f'{sentence}:\n{done.stdout.strip()[-2000:]}')


# -- compiling our programs --------------------------------------------------------------------


def _sources(program: str) -> list[Path]:
    folders = _PROGRAMS[program]
    return sorted(path for name in folders for path in (_SOURCES / name).rglob('*.java'))


def _programs_key(jdk: Jdk, libraries: Path) -> str:
    files = sorted(path for path in _SOURCES.rglob('*') if path.is_file())
    text = f'{jdk.home}\0{jdk.version}\0{libraries.name}\0{_digest(*files)}'
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _compile_programs(folder: Path, jdk: Jdk, libraries: Path, say: Say) -> None:
    say('compiling the JVM programs (once)')
    maven = sorted(libraries.glob('apache-maven-*/lib/*.jar'))
    platform = sorted(libraries.glob('junit-platform-*.jar'))
    annotations = sorted(libraries.glob('apiguardian-*.jar'))
    boot = sorted(libraries.glob('apache-maven-*/boot/*.jar'))
    _compile(folder / 'worker.jar', jdk, ['--release', '8'], platform + annotations)
    _compile(folder / 'builder.jar', jdk, [], maven + boot)
    _compile(folder / 'extension.jar', jdk, ['--release', '8'], maven + boot)


def _compile(jar: Path, jdk: Jdk, options: list[str], class_path: list[Path]) -> None:
    """Compile the program named like the jar; its resources go in beside the classes."""
    with tempfile.TemporaryDirectory(dir=jar.parent) as classes:
        libraries = os.pathsep.join(map(str, class_path))
        command = [str(jdk.home / 'bin' / 'javac'), '-nowarn', '-proc:none', '-encoding', 'UTF-8']
        command += [*options, '-cp', libraries, '-d', classes, *map(str, _sources(jar.stem))]
        _run(command, jdk, f'javac could not compile coevo/jvm/{jar.stem}')
        resources = _SOURCES / jar.stem / 'resources'
        if resources.is_dir():
            shutil.copytree(resources, classes, dirs_exist_ok=True)
        _pack(jar, Path(classes))


def _pack(jar: Path, classes: Path) -> None:
    with zipfile.ZipFile(jar, 'w', zipfile.ZIP_DEFLATED) as zipped:
        for file in sorted(path for path in classes.rglob('*') if path.is_file()):
            zipped.writestr(
                zipfile.ZipInfo(file.relative_to(classes).as_posix()), file.read_bytes()
            )
