"""A small archive of real Debian packages, written by a test and asked by the real apt."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

CODENAME = platform.freedesktop_os_release().get('VERSION_CODENAME', '')
ARCHITECTURE = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(platform.machine(), platform.machine())


def add_package(archive: Path, name: str, files: Mapping[str, Path | str]) -> Path:
    """Build a package; a file is a copy of one of the machine, or a link where the value is text."""
    tree = archive / 'trees' / name
    (tree / 'DEBIAN').mkdir(parents=True)
    (tree / 'DEBIAN/control').write_text(
        f'Package: {name}\nVersion: 1.0-1\nArchitecture: {ARCHITECTURE}\n'
        'Maintainer: nobody <nobody@example.org>\nInstalled-Size: 9\nDescription: for a test\n'
    )
    for place, content in files.items():
        path = tree / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            shutil.copy(content, path)
    built = archive / 'pool' / f'{name}_1.0-1_{ARCHITECTURE}.deb'
    built.parent.mkdir(exist_ok=True)
    subprocess.run(['dpkg-deb', '-Znone', '--build', tree, built], check=True, capture_output=True)
    return built


def publish(archive: Path, suite: str, *, date: str = 'Thu, 01 Jan 2026', until: str = '') -> None:
    """Write the lists of a suite that has all packages of the pool; days as in `Thu, 01 Jan 2026`."""
    listed = ''.join(map(_paragraph, sorted((archive / 'pool').glob('*.deb'))))
    place = archive / 'dists' / suite / f'main/binary-{ARCHITECTURE}/Packages'
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(listed)
    checksum = hashlib.sha256(listed.encode()).hexdigest()
    name = place.relative_to(archive / 'dists' / suite)
    (archive / 'dists' / suite / 'Release').write_text(
        f'Suite: {suite}\nCodename: {suite}\nComponents: main\nArchitectures: {ARCHITECTURE}\n'
        f'Date: {date} 00:00:00 UTC\n'
        + (f'Valid-Until: {until} 00:00:00 UTC\n' if until else '')
        + f'SHA256:\n {checksum} {len(listed)} {name}\n'
    )


def sign(archive: Path, suite: str, keys: Path) -> Path:
    """Sign the list of a suite with a key of its own; the keyring that trusts it."""
    keys.mkdir(mode=0o700)
    gpg = ['gpg', '--batch', '--homedir', str(keys), '--passphrase', '']
    keyring = keys / 'archive.gpg'
    release = archive / 'dists' / suite / 'Release'
    for command in (
        ['--quick-gen-key', 'archive@example.org', 'rsa2048', 'sign', 'never'],
        ['--output', str(keyring), '--export'],
        ['--output', str(release.with_name('InRelease')), '--clear-sign', str(release)],
    ):
        subprocess.run([*gpg, *command], check=True, capture_output=True)
    subprocess.run(['gpgconf', '--homedir', keys, '--kill', 'all'], check=True)
    return keyring


def _paragraph(file: Path) -> str:
    control = subprocess.run(
        ['dpkg-deb', '--field', file], check=True, capture_output=True, text=True
    ).stdout
    content = file.read_bytes()
    return (
        f'{control}Filename: pool/{file.name}\nSize: {len(content)}\n'
        f'SHA256: {hashlib.sha256(content).hexdigest()}\n\n'
    )


def configure(folder: Path, archive: Path, *, insecure: bool) -> Path:
    """A configuration of apt for APT_CONFIG, by which the machine knows this archive alone."""
    sources = folder / 'sources.list'
    sources.write_text(f'deb file:{archive} {CODENAME} main\n')
    configuration = folder / 'apt.conf'
    lines = [f'Dir::Etc::sourcelist "{sources}";', 'Dir::Etc::sourceparts "-";']
    if insecure:
        lines += [
            'Acquire::AllowInsecureRepositories "true";',
            'APT::Get::AllowUnauthenticated "true";',
        ]
    configuration.write_text('\n'.join(lines) + '\n')
    return configuration
