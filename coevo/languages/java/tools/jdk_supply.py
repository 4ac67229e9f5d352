"""The JDKs that a run may use: those of the machine, and Debian's packages that coevo unpacks
itself.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from coevo.debian.bundle import BundleRecipe, install_bundle, load_bundle_record
from coevo.languages.java.tools.jdks import (
    LIMIT,
    Jdk,
    find_alike_jdks,
    find_jdks,
    identify_jdk,
    locate_installed_jdks,
)
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say, ignore_message
from coevo.storage.durable import UNFINISHED, write_durably

# Long-term support releases: together they can run builds of any date.
OFFERED = (8, 11, 17, 21, 25)

# First the C library and its companions; then what the desktop classes load in headless mode.
_LIBRARIES = (
    *('libc6', 'libstdc++6', 'libgcc-s1', 'zlib1g'),
    *('libjpeg62-turbo', 'libjpeg-turbo8', 'liblcms2-2', 'libfreetype6', 'libfontconfig1'),
    *('libpng16-16t64', 'libpng16-16', 'libbrotli1', 'libbz2-1.0', 'libexpat1'),
    *(
        'libharfbuzz0b',
        'libgraphite2-3',
        'libglib2.0-0t64',
        'libglib2.0-0',
        'libpcre2-8-0',
        'libffi8',
        'libatomic1',
    ),
)
# Debian creates the certificates that its JDKs trust when the package is installed.
_CERTIFICATES = ('lib/security/cacerts', 'jre/lib/security/cacerts')


def locate_jdk_folder(feature: int) -> Path:
    """Return the folder where coevo installs the JDK of a feature release; it need not exist."""
    return locate_installed_jdks() / f'jdk-{feature}'  # own name: a number


def install_jdk(feature: int, say: Say, certificate_sources: Iterable[Jdk] = ()) -> Jdk:
    """Return coevo's own JDK of one of the offered releases; install it if it is missing.

    `others` are available JDKs, from which certificates are copied if the system has none. Raises:
    Fatal or Transient if the installation fails; Fatal if the installed JDK does not start here.
    """

    def copy_certificates(home: Path, root: Path) -> None:
        """Copy certificates into the unpacked JDK; `root` is not used."""
        _copy_certificates(home, certificate_sources)

    recipe = BundleRecipe(
        what=f'JDK {feature}',
        packages=(f'openjdk-{feature}-jdk-headless', f'openjdk-{feature}-jre-headless'),
        libraries=_LIBRARIES,
        home=f'usr/lib/jvm/java-{feature}-openjdk-*',
        finish=copy_certificates,
    )
    folder = install_bundle(recipe, locate_jdk_folder(feature), say)
    jdk = identify_jdk(folder)
    why = None if jdk is not None and jdk.feature == feature else 'it is no such JDK'
    why = why or _find_start_failure(folder)
    if jdk is None or why is not None:
        shutil.rmtree(folder)
        raise Fatal(f'JDK {feature} was installed but is of no use here ({why}) and was removed')
    _write_release_file_if_missing(jdk)
    archive_classes(folder)
    return jdk


def describe_debian_packages_of_jdk(home: Path) -> tuple[str, ...]:
    """Return `NAME VERSION sha256:DIGEST` for each Debian package that a JDK was unpacked from.

    Empty for a JDK that coevo did not install.
    """
    _, packages = load_bundle_record(home) or ('', ())
    return tuple(
        f'{package.name} {package.version} sha256:{package.sha256}' for package in packages
    )


def _write_release_file_if_missing(jdk: Jdk) -> None:
    """Write the JDK's `release` file if it has none, as Debian's JDK 8.

    Builds and coevo read the version from this file.
    """
    file = jdk.home / 'release'
    if not file.is_file():
        write_durably(file, [f'JAVA_VERSION="{jdk.version}"\n'.encode()])


def _copy_certificates(home: Path, others: Iterable[Jdk]) -> None:
    """Copy the certificates that another JDK trusts into a JDK that has none.

    Without any, no test could open a TLS context. Nothing is copied if no other JDK has any.
    """
    own = [home / name for name in _CERTIFICATES if (home / name).parent.is_dir()]
    candidates = (jdk.home / name for jdk in others for name in _CERTIFICATES)
    source = next((path for path in candidates if path.is_file()), None)
    for path in own:
        if source is not None and not path.is_file():
            shutil.copyfile(source, path)


def _find_start_failure(home: Path) -> str | None:
    """Start `java` and `javac`; return the error message of the first that fails, else None."""
    for name in ('java', 'javac'):
        done = subprocess.run(
            [home / 'bin' / name, '-version'],
            check=False,
            env={'PATH': os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f'status {done.returncode}'])[-1]
    return None


# The archive of a JDK's own classes (CDS), which makes its JVMs start faster.
#
# Debian creates it for JDK 8 and 11 when the package is installed; unpacking alone does not.
# Without it, a JVM of JDK 8 that runs one test costs a fifth more, one of JDK 11 a third.

_NAME = 'classes.jsa'
_SECONDS = 300


def archive_classes(home: Path) -> None:
    """Let a JDK write the archive of its own classes to where its JVM looks for it.

    An existing archive is kept. A failure raises nothing and only costs time: a JVM works without
    the archive.
    """
    for library in sorted(home.glob('**/server/libjvm.so')):
        archive = library.with_name(_NAME)
        new = library.with_name(f'{_NAME}{UNFINISHED}{secrets.token_hex(6)}')
        try:
            if not archive.exists() and _dump_archive(home, new):
                new.replace(archive)
        finally:
            new.unlink(missing_ok=True)


def _dump_archive(home: Path, file: Path) -> bool:
    """Let a JVM write the archive to a file; return whether it succeeded."""
    command = (
        *(home / 'bin/java', '-Xshare:dump', '-XX:+UnlockDiagnosticVMOptions'),
        f'-XX:SharedArchiveFile={file}',
    )
    try:
        done = subprocess.run(
            command,
            check=False,
            env={'PATH': os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and file.is_file()


class JdkSupply:
    """The JDKs of the machine and those that can be installed; thread-safe.

    Implements `coevo.languages.runtimes.Runtimes`. A failed installation is not tried again.

    known   the machine's JDKs; the result of `find_jdks` if None
    brings  whether missing JDKs may be installed; ignored if $COEVO_JDKS limits the choice
    """

    def __init__(
        self,
        known: Sequence[Jdk] | None = None,
        *,
        brings: bool = False,
        say: Say = ignore_message,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._known = tuple(find_jdks(environment) if known is None else known)
        self._brings = brings and not environment.get(LIMIT)
        self._say = say
        self._brought: dict[int, Jdk | None] = {}
        self._lock = threading.Lock()

    @property
    def known(self) -> tuple[Jdk, ...]:
        """The JDKs of the machine, which need no installation."""
        return self._known

    @property
    def offered(self) -> tuple[Jdk, ...]:
        """The JDKs that `get_or_install_jdk` accepts: the machine's, then those that it would install.

        The latter are placeholders, whose version is only a feature release.
        """
        there = {jdk.feature for jdk in self._known}
        absent = (feature for feature in OFFERED if self._brings and feature not in there)
        return (
            *self._known,
            *(
                Jdk(home=locate_jdk_folder(feature_release), version=str(feature_release))
                for feature_release in absent
            ),
        )

    def get_or_install_jdk(self, jdk: Jdk) -> Jdk | None:
        """Return the JDK to use for an offered one, installed if need be; None if that fails.

        A failure is reported with `say`.
        """
        if jdk in self._known:
            return jdk
        with self._lock:
            if jdk.feature not in self._brought:
                self._brought[jdk.feature] = self._try_install(jdk.feature)
            return self._brought[jdk.feature]

    def has_installation_failed(self, jdk: Jdk) -> bool:
        """Return whether the installation of a JDK was tried and failed."""
        return jdk not in self._known and self._brought.get(jdk.feature, jdk) is None

    @property
    def installable(self) -> tuple[str, ...]:
        """The feature releases that `install` can install."""
        return tuple(map(str, OFFERED))

    def try_to_provide(self, version: str) -> bool:
        """Return whether a JDK of this version, or else of its feature release, is available.

        Installs the JDK if need be.
        """
        offered = find_alike_jdks(version, self.offered)
        return any(self.get_or_install_jdk(jdk) is not None for jdk in offered)

    def install(self, release: str) -> Jdk:
        """Return a JDK of a release; install it if it is missing.

        A JDK that an earlier coevo installed is completed with the parts that coevo makes today.

        Raises: Fatal for a release that cannot be installed; Fatal or Transient if the installation
        fails.
        """
        known_jdk = next((jdk for jdk in self._known if jdk.release == release), None)
        if known_jdk is None and release not in self.installable:
            known = ', '.join(self.installable)
            raise Fatal(f'JDK {release} is not among those that can be installed: {known}')
        if known_jdk is not None and known_jdk.home != locate_jdk_folder(int(release)):
            return known_jdk
        return install_jdk(int(release), self._say, self._known)

    def _try_install(self, feature: int) -> Jdk | None:
        self._say(f'JDK {feature} is not on this machine; it is brought now, which takes a minute')
        try:
            return install_jdk(feature, self._say, self._known)
        except (Fatal, Transient) as error:
            self._say(f'JDK {feature} could not be brought ({error}); this run goes on without it')
            return None
