"""Pinned libraries: listed in a file with checksums, fetched once by the machine's own Maven."""

from __future__ import annotations

import hashlib
import os
import shutil
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from coevo.languages.java.tools.jdks import Jdk
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.sandboxes.host_tools import run_tool
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once

_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedLibrary:
    """A library that is fetched once and must have this checksum."""

    coordinates: str  # group:artifact:version[:type:classifier]
    sha256: str

    @property
    def artifact(self) -> str:
        """The artifactId."""
        return self.coordinates.split(':')[1]

    @property
    def file(self) -> str:
        """The file name: ARTIFACT-VERSION[-CLASSIFIER].TYPE."""
        _, artifact, version, *rest = self.coordinates.split(':')
        kind, classifier = rest or ('jar', '')
        return '-'.join(filter(None, (artifact, version, classifier))) + f'.{kind}'


def load_pins(file: Path) -> tuple[PinnedLibrary, ...]:
    """Return the libraries that a file of pins lists, in order."""
    return tuple(PinnedLibrary(**row) for row in tomllib.loads(file.read_text())['library'])


def locate_library_folder(file: Path) -> Path:
    """Return the folder that holds the libraries of a file of pins once they are fetched."""
    return find_cache_folder() / 'tools' / f'libraries-{digest_files(file)}'


def fetch_libraries(file: Path, jdk: Jdk, say: Say, what: str) -> Path:
    """Return the folder of the pinned libraries of a file; fetch them if it does not exist.

    `what` names them for the user, to whom `say` reports the download. Archives of type zip are
    unpacked. Raises: Transient if Maven fails, Fatal if a checksum differs.
    """
    folder = locate_library_folder(file)
    if not folder.is_dir():
        with build_folder_once(folder) as new:
            if new is not None:
                say(f'fetching {what} (once)')
                _fetch_pins(new, load_pins(file), jdk)
    return folder


# -- one folder, built once --------------------------------------------------------------------


def digest_files(*files: Path) -> str:
    """Return a digest of the files' names and contents, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b'\0' + file.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


# -- fetching ----------------------------------------------------------------------------------


def _fetch_pins(folder: Path, pins: Sequence[PinnedLibrary], jdk: Jdk) -> None:
    maven = shutil.which('mvn')
    if maven is None:
        raise Fatal('Maven was not found on PATH; install it (apt install maven) and run again')
    (folder / 'pom.xml').write_text(_make_pom(folder, pins))
    command = [maven, '-q', '-B', '-f', str(folder / 'pom.xml'), _COPY]
    run_java_tool(
        command, jdk, 'Maven could not fetch the pinned libraries; check its network and settings'
    )
    (folder / 'pom.xml').unlink()
    for pin in pins:
        _verify_checksum(folder / pin.file, pin)
    for distribution in folder.glob('*.zip'):
        _unpack_zip(distribution, folder)
        distribution.unlink()


def _make_pom(folder: Path, pins: Sequence[PinnedLibrary]) -> str:
    return f"""<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>coevo</groupId><artifactId>tools</artifactId><version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <configuration>
      <outputDirectory>{escape(str(folder))}</outputDirectory>
      <artifactItems>{''.join(map(_format_artifact_item, pins))}</artifactItems>
    </configuration>
  </plugin></plugins></build>
</project>"""


def _format_artifact_item(pin: PinnedLibrary) -> str:
    names = ('groupId', 'artifactId', 'version', 'type', 'classifier')
    values = zip(names, pin.coordinates.split(':'), strict=False)
    inner = ''.join(f'<{name}>{value}</{name}>' for name, value in values)
    return f'<artifactItem>{inner}</artifactItem>'


def _verify_checksum(file: Path, pin: PinnedLibrary) -> None:
    checksum = hashlib.sha256(file.read_bytes()).hexdigest()
    if checksum != pin.sha256:
        raise Fatal(
            f'{pin.coordinates} has checksum {checksum} instead of {pin.sha256}: your Maven mirror'
            ' or local repository holds another file; delete it there and run again'
        )


def _unpack_zip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for entry in zipped.infolist():
            path = Path(
                zipped.extract(entry, folder)
            )  # own name: of an archive whose checksum is coevo's
            path.chmod((entry.external_attr >> 16) & 0o777 or 0o644)


def run_java_tool(command: Sequence[str], jdk: Jdk, sentence: str) -> None:
    """Run a program with JAVA_HOME set to a JDK; see `run_tool`.

    Raises: Transient, whose message begins with `sentence`, if the program fails.
    """
    run_tool(command, sentence, environment={**os.environ, 'JAVA_HOME': str(jdk.home)})
