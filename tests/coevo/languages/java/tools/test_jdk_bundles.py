"""JDKs out of Debian packages: what they say of themselves, and those that are of no use."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.languages.java.tools.jdk_supply import (
    JdkSupply,
    describe_debian_packages_of_jdk,
    install_jdk,
)
from coevo.languages.java.tools.jdks import find_jdks, identify_jdk
from coevo.model.errors import Fatal
from coevo.model.listener import ignore_message
from tests.coevo.debian.archive import CODENAME, add_package, configure, publish

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


def test_installed_jdk_lists_its_version_and_source_packages(offer: Offer) -> None:
    offer(java=JAVA, javac=JAVA)

    jdk = install_jdk(8, ignore_message)

    assert (jdk.home / 'release').read_text() == 'JAVA_VERSION="1.8.0_504"\n'
    assert identify_jdk(jdk.home) == jdk
    names = [line.split(' ') for line in describe_debian_packages_of_jdk(jdk.home)]
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
def test_installed_jdk_keeps_a_class_archive_only_if_dumping_succeeds(
    offer: Offer, status: int, archived: list[str]
) -> None:
    offer(java=DUMPS % status, javac=JAVA, libjvm='')
    server = 'jre/lib/amd64/server'

    jdk = install_jdk(8, ignore_message)

    (jdk.home / server).mkdir(parents=True)
    (jdk.home / 'bin/libjvm').rename(jdk.home / server / 'libjvm.so')
    assert install_jdk(8, ignore_message) == jdk
    found = sorted(path.name for path in (jdk.home / server).iterdir())
    assert found == [*archived, 'libjvm.so']


def test_jdk_of_the_machine_has_no_known_source_packages() -> None:
    assert [
        describe_debian_packages_of_jdk(jdk.home)
        for jdk in find_jdks()
        if jdk.home.is_relative_to('/usr')
    ][:1] in (
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
def test_unusable_installed_jdk_is_reported_and_removed(
    offer: Offer, programs: dict[str, str], why: str, tmp_path: Path
) -> None:
    offer(**programs)

    with pytest.raises(Fatal, match=rf'is of no use here \({why}\) and was removed'):
        install_jdk(8, ignore_message)

    assert not (tmp_path / 'cache/jdks/jdk-8').exists()
    said: list[str] = []
    assert not JdkSupply((), brings=True, say=said.append, environment={}).try_to_provide('8')
    assert 'this run goes on without it' in said[-1]
