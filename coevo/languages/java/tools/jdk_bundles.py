"""JDKs that coevo brings itself: Debian's packages, unpacked into the tool cache."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from coevo.debian.bundle import BundleRecipe, install_bundle, load_record
from coevo.languages.java.tools.jdks import Jdk, identify_jdk, locate_installed_jdks
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.storage.durable import UNFINISHED, write_durably

# Long-term releases: what builds of any date can be expected to run on.
OFFERED = (8, 11, 17, 21, 25)

# The C library and what comes with it; then what the desktop classes load without a screen.
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
# The certificates that the system's JDKs trust are made when their package is installed.
_CERTIFICATES = ('lib/security/cacerts', 'jre/lib/security/cacerts')


def locate_jdk_folder(feature: int) -> Path:
    """Where a JDK lies once it is installed."""
    return locate_installed_jdks() / f'jdk-{feature}'  # own name: a number


def install_jdk(feature: int, say: Say, others: Iterable[Jdk] = ()) -> Jdk:
    """A JDK of one of the releases that are offered, brought if it is not there; Fatal, Transient.

    others  JDKs at hand, whose certificates it gets where the system has none
    """

    def copy_certificates(home: Path, root: Path) -> None:
        _copy_certificates(home, others)

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
    _write_release_file(jdk)
    archive_classes(folder)
    return jdk


def list_source_packages(home: Path) -> tuple[str, ...]:
    """`NAME VERSION sha256:DIGEST` of each package of a JDK that coevo brought; none of any other."""
    _, packages = load_record(home) or ('', ())
    return tuple(
        f'{package.name} {package.version} sha256:{package.sha256}' for package in packages
    )


def _write_release_file(jdk: Jdk) -> None:
    """Write the `release` file that Debian's package of JDK 8 lacks: builds read it, and so do we."""
    file = jdk.home / 'release'
    if not file.is_file():
        write_durably(file, [f'JAVA_VERSION="{jdk.version}"\n'.encode()])


def _copy_certificates(home: Path, others: Iterable[Jdk]) -> None:
    """Give a JDK the certificates of another one; without any, no test could open a TLS context."""
    own = [home / name for name in _CERTIFICATES if (home / name).parent.is_dir()]
    candidates = (jdk.home / name for jdk in others for name in _CERTIFICATES)
    source = next((path for path in candidates if path.is_file()), None)
    for path in own:
        if source is not None and not path.is_file():
            shutil.copyfile(source, path)


def _find_start_failure(home: Path) -> str | None:
    """Why a JDK does not start, in its own words; None where it does."""
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


# The archive of a JDK's own classes (CDS), from which its JVMs start faster.
#
# Debian makes it for JDK 8 and 11 when their package is installed, which unpacking does not do: a
# JVM of 8 that runs one test costs a fifth more without it, one of 11 a third.

_NAME = 'classes.jsa'
_SECONDS = 300


def archive_classes(home: Path) -> None:
    """Write it where the JVM of a JDK looks for it, unless it is there; whole or not at all.

    Where that fails nothing is lost but time: a JVM does without.
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
    """Whether a JVM wrote the archive to a file."""
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
