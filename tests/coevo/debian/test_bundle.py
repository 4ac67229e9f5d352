from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import Process
from pathlib import Path

import pytest

from coevo.debian.apt import Apt, DebianSuite
from coevo.debian.bundle import BundleRecipe, install_bundle, load_bundle_record
from coevo.model.errors import Fatal, Transient
from tests.coevo.debian.archive import CODENAME, add_package, configure, publish, sign

pytestmark = pytest.mark.skipif(
    shutil.which('apt-get') is None, reason='this machine has no apt, through which bundles come'
)

HOME = 'usr/lib/toys/toy-1'
TOY = BundleRecipe(
    what='Toy 1',
    packages=('toy-runtime',),
    libraries=('toy-libc', 'toy-not-there'),
    home='usr/lib/toys/toy-*',
)


def silent(line: str) -> None:
    """Nobody listens."""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def loader() -> tuple[Path, Path]:
    """The machine's own dynamic loader and C library."""
    listed = subprocess.run(
        ['ldd', '/bin/sh'], check=True, capture_output=True, text=True
    ).stdout.split()
    interpreter = next(word for word in listed if word.startswith('/lib') and 'ld-linux' in word)
    library = listed[listed.index('libc.so.6') + 2]
    return Path(interpreter).resolve(), Path(library).resolve()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / 'archive'
    folder.mkdir()
    interpreter, library = loader()
    triplet = library.parent.name
    settings = tmp_path / 'toy.conf'
    settings.write_text('a = 1\n')
    name = (
        subprocess.run(['ldd', '/bin/sh'], check=True, capture_output=True, text=True)
        .stdout.split('/')[-1]
        .split()[0]
    )
    add_package(
        folder,
        'toy-runtime',
        {
            f'{HOME}/bin/toy': Path('/bin/sh').resolve(),
            f'{HOME}/bin/again': 'toy',
            f'{HOME}/toy.conf': '/etc/toy/toy.conf',
            f'{HOME}/docs': '../../../share/doc/toy',
            f'{HOME}/gone': '/etc/toy/nowhere',
            'usr/lib/toys/toy-default': 'toy-1',
            'etc/toy/toy.conf': settings,
        },
    )
    add_package(
        folder,
        'toy-libc',
        {
            f'usr/lib/{triplet}/{name}': interpreter,
            f'usr/lib/{triplet}/libc.so.6': library,
        },
    )
    publish(folder, CODENAME)
    publish(folder, 'sid')
    return folder


@pytest.fixture
def trusted(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive as the only one that apt knows, and which it need not see signed."""
    monkeypatch.setenv('APT_CONFIG', str(configure(tmp_path, archive, insecure=True)))
    return archive


def test_bundle_runs_with_its_own_libraries_and_records_its_packages(
    trusted: Path, tmp_path: Path
) -> None:
    folder = install_bundle(TOY, tmp_path / 'cache/toy', silent)

    said = subprocess.run(
        [folder / 'bin/toy', '-c', 'cat /proc/$$/maps'], check=True, capture_output=True, text=True
    ).stdout
    assert str(folder / 'coevo/lib/libc.so.6') in said
    found = load_bundle_record(folder)
    assert found is not None
    suite, packages = found
    assert suite == CODENAME
    assert [package.name for package in packages] == ['toy-libc', 'toy-runtime']
    assert all(len(package.sha256) == 64 for package in packages)


def test_inner_links_are_kept_and_outer_links_are_replaced_by_files_or_removed(
    trusted: Path, tmp_path: Path
) -> None:
    folder = install_bundle(TOY, tmp_path / 'cache/toy', silent)

    assert (folder / 'bin/again').readlink() == Path('toy')
    assert (folder / 'toy.conf').read_text() == 'a = 1\n'
    assert not (folder / 'toy.conf').is_symlink()
    assert {'docs', 'gone'}.isdisjoint(names(folder))


def test_installed_bundle_is_not_fetched_again(trusted: Path, tmp_path: Path) -> None:
    folder = install_bundle(TOY, tmp_path / 'cache/toy', silent)
    shutil.rmtree(trusted)

    assert install_bundle(TOY, folder, silent) == folder


def test_package_missing_from_the_own_release_comes_from_the_development_suite(
    trusted: Path, tmp_path: Path
) -> None:
    if 'debian' not in Path('/etc/os-release').read_text():
        pytest.skip('only Debian has a development suite beside its releases')
    shutil.rmtree(trusted / 'trees')
    add_package(trusted, 'toy-new', {f'{HOME}/bin/toy': Path('/bin/sh').resolve()})
    publish(trusted, 'sid')

    folder = install_bundle(replace(TOY, packages=('toy-new',)), tmp_path / 'cache/toy', silent)

    found = load_bundle_record(folder)
    assert found is not None
    assert found[0] == 'sid'


def test_unsigned_package_list_is_refused(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('APT_CONFIG', str(configure(tmp_path, archive, insecure=False)))

    with pytest.raises(Transient, match='not signed'):
        install_bundle(TOY, tmp_path / 'cache/toy', silent)
    assert not (tmp_path / 'cache/toy').exists()


@pytest.mark.skipif(shutil.which('gpg') is None, reason='no gpg, with which to sign a list')
@pytest.mark.parametrize(
    ('dates', 'told'),
    [
        (
            {'until': 'Sun, 01 Feb 2026'},
            'list of sid is out of date .*expired.*name another mirror',
        ),
        ({'date': 'Tue, 01 Jan 2126'}, 'newer than this machine.s clock .*; set the clock'),
    ],
)
def test_expired_or_future_package_list_is_a_fatal_error(
    archive: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dates: dict[str, str],
    told: str,
) -> None:
    # A machine may be told to take old lists; this one reads no setting but these.
    settings = tmp_path / 'apt.conf'
    settings.write_text('Dir::Etc::Parts "/dev/null";\nDir::Etc::Main "/dev/null";\n')
    monkeypatch.setenv('APT_CONFIG', str(settings))
    publish(archive, 'sid', **dates)
    suite = DebianSuite(
        uri=f'file:{archive}',
        name='sid',
        components=('main',),
        keyring=sign(archive, 'sid', tmp_path / 'keys'),
    )

    with pytest.raises(Fatal, match=told):
        Apt(suite, tmp_path / 'apt').update()


def test_damaged_package_is_refused(trusted: Path, tmp_path: Path) -> None:
    file = next((trusted / 'pool').glob('toy-runtime*'))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    with pytest.raises(Transient, match='Hash Sum mismatch'):
        install_bundle(TOY, tmp_path / 'cache/toy', silent)
    assert names(tmp_path / 'cache') == ['toy.lock']


def test_package_that_no_suite_has_is_named_in_the_error(trusted: Path, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='has toy-of-nobody; install Toy 1 by hand'):
        install_bundle(replace(TOY, packages=('toy-of-nobody',)), tmp_path / 'cache/toy', silent)


def test_apt_without_an_archive_of_its_distribution_is_a_fatal_error(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('APT_CONFIG', str(configure(tmp_path, archive, insecure=True)))
    (tmp_path / 'sources.list').write_text('')

    with pytest.raises(Fatal, match='names no archive of its own distribution'):
        install_bundle(TOY, tmp_path / 'cache/toy', silent)


class Through(SimpleHTTPRequestHandler):
    """A proxy that has one host's files in a folder, and says what it was asked."""

    def translate_path(self, path: str) -> str:
        self.server.asked.append(path)  # type: ignore[attr-defined]
        return super().translate_path(path.removeprefix('http://archive.invalid'))

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


def test_packages_are_fetched_through_the_configured_apt_proxy(
    trusted: Path, tmp_path: Path
) -> None:
    with ThreadingHTTPServer(('127.0.0.1', 0), partial(Through, directory=str(trusted))) as proxy:
        proxy.asked = asked = []  # type: ignore[attr-defined]
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        (tmp_path / 'sources.list').write_text(f'deb http://archive.invalid {CODENAME} main\n')
        with (tmp_path / 'apt.conf').open('a') as configuration:
            configuration.write(f'Acquire::http::Proxy "http://127.0.0.1:{proxy.server_port}";\n')
        folder = install_bundle(TOY, tmp_path / 'cache/toy', silent)
        proxy.shutdown()

    assert (folder / 'bin/toy').is_file()
    assert all(path.startswith('http://archive.invalid/') for path in asked)


def test_unreachable_archive_is_a_transient_error(trusted: Path, tmp_path: Path) -> None:
    with socket.create_server(('127.0.0.1', 0)) as closed:
        port = closed.getsockname()[1]
    (tmp_path / 'sources.list').write_text(f'deb http://127.0.0.1:{port} {CODENAME} main\n')

    with pytest.raises(Transient, match=r'apt could not fetch packages of .*onnect'):
        install_bundle(TOY, tmp_path / 'cache/toy', silent)
    assert names(tmp_path / 'cache') == ['toy.lock']


def test_machine_without_apt_is_a_fatal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))

    with pytest.raises(Fatal, match='apt-get was not found'):
        install_bundle(TOY, tmp_path / 'cache/toy', silent)


_KILLED_WHILE_FETCHING = """
import os, signal, sys
from pathlib import Path
from coevo.debian.bundle import install_bundle
from tests.coevo.debian.test_bundle import TOY

def say(line):
    if line.startswith('fetching'):
        os.kill(os.getpid(), signal.SIGKILL)

install_bundle(TOY, Path(sys.argv[1]), say)
"""
_KILLED_WHILE_UNPACKING = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from coevo.debian.bundle import install_bundle
from tests.coevo.debian.test_bundle import TOY, silent

def finish(home, root):
    assert (home / 'bin/toy').is_file()
    os.kill(os.getpid(), signal.SIGKILL)

install_bundle(replace(TOY, finish=finish), Path(sys.argv[1]), silent)
"""


@pytest.mark.parametrize('script', [_KILLED_WHILE_FETCHING, _KILLED_WHILE_UNPACKING])
def test_killed_installation_leaves_no_bundle_and_can_be_repeated(
    trusted: Path, tmp_path: Path, script: str
) -> None:
    place = tmp_path / 'cache/toy'
    done = subprocess.run([sys.executable, '-c', script, place], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not place.exists()

    install_bundle(TOY, place, silent)

    assert names(place.parent) == ['toy', 'toy.lock']


def test_concurrent_installations_make_one_bundle(trusted: Path, tmp_path: Path) -> None:
    place = tmp_path / 'cache/toy'
    others = [Process(target=install_bundle, args=(TOY, place, silent)) for _ in range(2)]
    for one in others:
        one.start()
    for one in others:
        one.join()

    assert [one.exitcode for one in others] == [0, 0]
    assert names(place.parent) == ['toy', 'toy.lock']


@pytest.mark.skipif(os.geteuid() != 0, reason='mounts a small file system')
def test_full_disk_is_reported_before_anything_is_fetched(trusted: Path, tmp_path: Path) -> None:
    place = tmp_path / 'small'
    place.mkdir()
    mounted = subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', 'size=100k', 'tmpfs', place], check=False
    )
    if mounted.returncode:
        pytest.skip('may not mount')
    try:
        with pytest.raises(Fatal, match='free'):
            install_bundle(TOY, place / 'toy', silent)
        assert names(place) == ['toy.lock']
    finally:
        subprocess.run(['umount', place], check=True)
