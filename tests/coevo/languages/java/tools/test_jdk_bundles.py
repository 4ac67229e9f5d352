"""JDKs out of Debian packages: what they say of themselves, and those that are of no use."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.languages.java.tools.jdk_bundles import install_jdk
from coevo.languages.java.tools.jdk_bundles import made_of
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.java.tools.jdks import read_jdk
from coevo.model.errors import Fatal
from coevo.model.listener import silent
from tests.coevo.debian.archive import CODENAME
from tests.coevo.debian.archive import add_package
from tests.coevo.debian.archive import configure
from tests.coevo.debian.archive import publish

pytestmark = pytest.mark.skipif(
    shutil.which('apt-get') is None, reason='this machine has no apt, through which JDKs come'
)

HOME = 'usr/lib/jvm/java-8-openjdk-any'
JAVA = '#!/bin/sh\necho \'openjdk version "1.8.0_504"\' >&2\n'
Offer = Callable[..., None]


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Make an archive the only one that apt knows, with a JDK 8 of these programs."""
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))

    def offered(**programs: str) -> None:
        archive = tmp_path / 'archive'
        archive.mkdir()
        files = {}
        for name, text in programs.items():
            script = tmp_path / name
            script.write_text(text)
            script.chmod(0o755)
            files[f'{HOME}/bin/{name}'] = script
        add_package(archive, 'openjdk-8-jdk-headless', files)
        add_package(archive, 'openjdk-8-jre-headless', {f'{HOME}/jre/bin/java': '../../bin/java'})
        publish(archive, CODENAME)
        monkeypatch.setenv('APT_CONFIG', str(configure(tmp_path, archive, insecure=True)))

    return offered


def test_a_jdk_says_its_version_and_the_packages_that_it_is_made_of(offer: Offer) -> None:
    offer(java=JAVA, javac=JAVA)

    jdk = install_jdk(8, silent)

    assert (jdk.home / 'release').read_text() == 'JAVA_VERSION="1.8.0_504"\n'
    assert read_jdk(jdk.home) == jdk
    names = [line.split(' ') for line in made_of(jdk.home)]
    assert [line[:2] for line in names] == [
        ['openjdk-8-jdk-headless', '1.0-1'],
        ['openjdk-8-jre-headless', '1.0-1'],
    ]
    assert all(len(line[2].removeprefix('sha256:')) == 64 for line in names)


# Writes what it is asked to, as a JVM does that archives its classes, and ends as it is told.
DUMPS = (
    JAVA + 'for word; do case $word in *File=*) echo classes > "${word#*=}"; exit %d;; esac; done\n'
)


@pytest.mark.parametrize(('status', 'archived'), [(0, ['classes.jsa']), (1, [])])
def test_a_jdk_has_an_archive_of_its_classes_or_nothing_in_its_place(
    offer: Offer, status: int, archived: list[str]
) -> None:
    offer(java=DUMPS % status, javac=JAVA, libjvm='')
    server = 'jre/lib/amd64/server'

    jdk = install_jdk(8, silent)

    (jdk.home / server).mkdir(parents=True)
    (jdk.home / 'bin/libjvm').rename(jdk.home / server / 'libjvm.so')
    assert install_jdk(8, silent) == jdk
    found = sorted(path.name for path in (jdk.home / server).iterdir())
    assert found == [*archived, 'libjvm.so']


def test_a_jdk_of_the_machine_is_made_of_nothing_that_is_known() -> None:
    assert [made_of(jdk.home) for jdk in find_jdks() if jdk.home.is_relative_to('/usr')][:1] in (
        [],
        [()],
    )


@pytest.mark.parametrize(
    ('programs', 'why'),
    [
        ({'java': JAVA}, 'it is no such JDK'),
        ({'java': JAVA.replace('1.8.0_504', '17.0.1'), 'javac': JAVA}, 'it is no such JDK'),
        ({'java': JAVA, 'javac': '#!/bin/sh\necho broken >&2; exit 1\n'}, 'broken'),
    ],
)
def test_one_that_compiles_nothing_is_told_and_removed(
    offer: Offer, programs: dict[str, str], why: str, tmp_path: Path
) -> None:
    offer(**programs)

    with pytest.raises(Fatal, match=rf'is of no use here \({why}\) and was removed'):
        install_jdk(8, silent)

    assert not (tmp_path / 'cache/jdks/jdk-8').exists()
    said: list[str] = []
    assert not JdkSupply((), brings=True, say=said.append, environment={}).has('8')
    assert 'this run goes on without it' in said[-1]
