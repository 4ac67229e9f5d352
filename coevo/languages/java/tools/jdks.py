"""Find the JDKs of this machine; no JDK with a `release` file is started for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from coevo.model.errors import Fatal
from coevo.storage.disk import find_cache_folder

PREFERRED = 17

# Folders in which packages, installers and development tools put each JDK in its own subfolder.
_FOLDERS = ('/usr/lib/jvm', '/usr/java', '/opt/java', '~/.jdks', '~/.sdkman/candidates/java')
_TOOLCHAINS = ('~/.m2/toolchains.xml', '$MAVEN_HOME/conf/toolchains.xml')
LIMIT = 'COEVO_JDKS'


@dataclass(frozen=True, slots=True, kw_only=True)
class Jdk:
    """A JDK with a compiler: its folder and its version, such as `17.0.15`.

    The version is that of its `release` file, or else what `java -version` prints.
    """

    home: Path
    version: str

    @property
    def feature(self) -> int:
        """The feature release: 8, 11, 17, …; 1.8 counts as 8."""
        numbers = [int(part) for part in re.findall(r'\d+', self.version)] or [0]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]

    @property
    def release(self) -> str:
        """The feature release as text."""
        return str(self.feature)

    def __str__(self) -> str:
        return f'{self.feature:<4}{self.version:<16}{self.home}'

    @property
    def can_run_tools(self) -> bool:
        """True for JDK 17 and newer, on which coevo's own tools can run.

        Builds and tests may run on an older one.
        """
        return self.feature >= PREFERRED


def locate_installed_jdks() -> Path:
    """Return the folder of the JDKs that coevo installed itself."""
    return find_cache_folder() / 'jdks'


def find_jdks(environment: Mapping[str, str] = os.environ) -> tuple[Jdk, ...]:
    """Return every JDK that can be found, each once, in the order of the search.

    Searches JAVA_HOME variables, Maven's toolchains, the usual folders, PATH and coevo's own
    installations. If $COEVO_JDKS lists homes or feature releases, such as `17:11`, only those are
    returned.

    Raises: Fatal if a variable such as JAVA_HOME_8 names another JDK than it says.
    """
    jdks_by_home: dict[Path, Jdk] = {}
    for home in _list_homes(environment):
        jdk = identify_jdk(home.resolve())
        if jdk is not None:
            jdks_by_home.setdefault(jdk.home, jdk)
    wanted = [text for text in environment.get(LIMIT, '').split(os.pathsep) if text]
    return tuple(jdk for jdk in jdks_by_home.values() if not wanted or _is_wanted(jdk, wanted))


def choose_jdk_for_tools(jdks: tuple[Jdk, ...]) -> Jdk:
    """Return the JDK for coevo's own tools: of release 17, else of the lowest newer release.

    Among equal releases the first one wins. Raises: Fatal if there is no JDK 17 or newer.
    """
    usable = [jdk for jdk in jdks if jdk.can_run_tools]
    if not usable:
        raise Fatal('no JDK 17 or newer was found; install one (openjdk-17-jdk) or set JAVA_HOME')
    return min(usable, key=lambda jdk: jdk.feature)


def find_alike_jdks(version: str, jdks: Iterable[Jdk]) -> tuple[Jdk, ...]:
    """Return the JDKs of exactly this version, or else those of its feature release.

    Empty if there are neither.
    """
    feature = Jdk(home=Path(), version=version).feature
    near = tuple(jdk for jdk in jdks if jdk.feature == feature)
    return tuple(jdk for jdk in near if jdk.version == version) or near


def _is_wanted(jdk: Jdk, wanted: list[str]) -> bool:
    return any(
        jdk.feature == int(text) if text.isdecimal() else jdk.home == Path(text).resolve()
        for text in wanted
    )


def _list_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    for name in sorted(environment):
        if re.fullmatch(r'JAVA_HOME(_.+)?', name) and environment[name]:
            _require_named_release(name, Path(environment[name]))
            yield Path(environment[name])
    for file in _TOOLCHAINS:
        yield from _list_toolchain_homes(_expand_path(file, environment))
    for folder in _FOLDERS:
        yield from sorted(_expand_path(folder, environment).glob('*'))
    compiler = shutil.which('javac', path=environment.get('PATH', os.defpath))
    if compiler is not None:
        yield Path(compiler).resolve().parent.parent
    yield from sorted(locate_installed_jdks().glob('jdk-*'))


def _require_named_release(name: str, home: Path) -> None:
    """Raise Fatal if a variable such as JAVA_HOME_11 names a JDK of another release, or none.

    A name without a number is not checked.
    """
    promised = re.match(r'JAVA_HOME_(\d+)', name)
    if promised is None:
        return
    jdk = identify_jdk(home.resolve())
    if jdk is None or jdk.feature != int(promised[1]):
        what = 'has no compiler' if jdk is None else f'is JDK {jdk.feature}'
        raise Fatal(
            f'${name} names {home}, which {what}; let it name a JDK {promised[1]}, or unset it'
        )


def _expand_path(path: str, environment: Mapping[str, str]) -> Path:
    home, maven = environment.get('HOME', '/nonexistent'), environment.get('MAVEN_HOME', '')
    return Path(
        path.replace('~', home).replace('$MAVEN_HOME', maven or '/nonexistent')
    )  # own name: a place of this machine


def _list_toolchain_homes(file: Path) -> Iterator[Path]:
    """Yield the JDK homes that a Maven toolchains file names; none if the file cannot be read."""
    try:
        root = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError):
        return
    for home in root.iterfind('.//{*}jdkHome'):
        if home.text and home.text.strip():
            yield Path(home.text.strip())


def identify_jdk(home: Path) -> Jdk | None:
    """Return the JDK in a folder; None if it has no compiler or its version is unknown.

    If it has no `release` file, `java -version` is started.
    """
    if not (home / 'bin' / 'javac').is_file():
        return None
    release = home / 'release'
    text = release.read_text(errors='replace') if release.is_file() else _ask_version(home)
    match = re.search(r'^(?:JAVA_VERSION=|openjdk version )"([^"]+)"', text, re.MULTILINE)
    return Jdk(home=home, version=match[1]) if match else None


def _ask_version(home: Path) -> str:
    """Start `java -version` and return its output; '' if there is no `java`.

    JDK 8 packages may have no `release` file.
    """
    java = home / 'bin' / 'java'
    if not java.is_file():
        return ''
    done = subprocess.run(
        [java, '-version'], check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return done.stderr
