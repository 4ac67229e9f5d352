from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.languages.java.tools.jdks import Jdk, choose_jdk_for_tools, find_alike_jdks, find_jdks
from coevo.languages.java.tools.toolchain import COVERAGE, prepare_toolchain
from coevo.model.errors import Fatal

FETCH = (
    'from coevo.languages.java.tools.toolchain import prepare_toolchain; print(prepare_toolchain())'
)


def jdk(home: Path, version: str) -> Path:
    (home / 'bin').mkdir(parents=True)
    (home / 'bin' / 'javac').touch(mode=0o755)
    (home / 'release').write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def test_jdks_named_by_the_environment_come_first(tmp_path: Path) -> None:
    environment = {
        'JAVA_HOME': str(jdk(tmp_path / 'one', '1.8.0_392')),
        'JAVA_HOME_21_X64': str(jdk(tmp_path / 'two', '21.0.2')),
        'JAVA_HOME_NONE': str(tmp_path / 'absent'),
        'JAVA_HOMES': str(jdk(tmp_path / 'other', '99')),
        'PATH': str(jdk(tmp_path / 'three', '11.0.1') / 'bin'),
    }
    found = [it for it in find_jdks(environment) if it.home.is_relative_to(tmp_path)]
    assert [(it.home.name, it.feature) for it in found] == [('one', 8), ('two', 21), ('three', 11)]


def test_variable_that_names_a_wrong_jdk_release_is_reported(tmp_path: Path) -> None:
    home = jdk(tmp_path / 'one', '17.0.2')
    with pytest.raises(Fatal, match=r'\$JAVA_HOME_8 names .*/one, which is JDK 17; let it name'):
        find_jdks({'JAVA_HOME_8': str(home)})
    with pytest.raises(Fatal, match='has no compiler'):
        find_jdks({'JAVA_HOME_8': str(tmp_path)})


def test_installed_jdk_is_found_unless_its_unpacking_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path))
    whole = jdk(tmp_path / 'jdks/jdk-8', '1.8.0_504')
    jdk(tmp_path / 'jdks/.new-jdk-11/jdk-11', '11.0.1')
    found = [it.home for it in find_jdks({}) if it.home.is_relative_to(tmp_path)]
    assert found == [whole]


@pytest.mark.parametrize(
    ('versions', 'chosen'),
    [
        (['25.0.1', '17.0.15', '21'], '17.0.15'),
        (['25.0.1', '11.0.1', '21', '21.0.1'], '21'),
        (['17.0.2', '17.0.15'], '17.0.2'),
    ],
)
def test_jdk_17_is_preferred_then_the_lowest_newer_release(
    versions: list[str], chosen: str
) -> None:
    jdks = tuple(Jdk(home=Path(str(n)), version=it) for n, it in enumerate(versions))
    assert choose_jdk_for_tools(jdks).version == chosen


@pytest.mark.parametrize(
    ('wanted', 'found'),
    [
        ('17.0.15', ['17.0.15']),
        ('17.0.9', ['17.0.2', '17.0.15']),
        ('8u392', ['1.8.0_392']),
        ('21', []),
        ('', []),
    ],
)
def test_alike_jdks_are_of_the_same_version_or_else_feature_release(
    wanted: str, found: list[str]
) -> None:
    versions = ('17.0.2', '17.0.15', '1.8.0_392')
    jdks = [Jdk(home=Path(it), version=it) for it in versions]
    assert [jdk.version for jdk in find_alike_jdks(wanted, jdks)] == found


def test_missing_jdk_is_reported_with_what_to_install() -> None:
    with pytest.raises(Fatal, match='install one'):
        choose_jdk_for_tools(
            (Jdk(home=Path('/x'), version='1.8.0_392'), Jdk(home=Path('/y'), version='11'))
        )


@pytest.mark.slow
@pytest.mark.jvm
def test_toolchain_is_fetched_once_by_two_processes_and_then_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path))
    both = [
        subprocess.Popen([sys.executable, '-c', FETCH], stdout=subprocess.PIPE) for _ in range(2)
    ]
    answers = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0] == answers[1]
    monkeypatch.setenv('PATH', '/usr/bin-without-maven')
    said: list[str] = []
    monkeypatch.setattr(subprocess, 'Popen', None)  # no process is needed
    tools = prepare_toolchain(said.append)
    assert said == []
    assert f'{tools}\n'.encode() == answers[0]
    assert {it.name for it in tools.tools.iterdir()} == {
        'umpire.jar',
        'worker.jar',
        'builder.jar',
        'extension.jar',
        'relay.jar',
    }
    assert (tools.maven_home / 'bin' / 'mvn').stat().st_mode & stat.S_IXOTH
    for path in (*tools.tools.rglob('*'), *tools.libraries.rglob('*')):
        assert path.stat().st_mode & stat.S_IROTH, path
    assert not [it for it in (tmp_path / 'tools').iterdir() if it.name.startswith('.new')]


def fake_maven(folder: Path, script: str) -> str:
    folder.mkdir()
    (folder / 'mvn').write_text(f'#!/bin/sh\n{script}\n')
    (folder / 'mvn').chmod(0o755)
    return f'{folder}{os.pathsep}{os.environ["PATH"]}'


@pytest.mark.jvm
def test_tools_with_a_wrong_checksum_are_refused_and_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    script = 'for a; do case $a in */pom.xml) cd "${a%/pom.xml}";; esac; done\n'
    script += "sed -n 's:</artifactItem>:\\n:gp' pom.xml | sed -n "
    script += "'s:.*artifactId>\\(.*\\)</artifactId><version>\\([^<]*\\)<.*:\\1-\\2:p' |"
    script += 'while read name; do echo bad > $name.jar; echo bad > $name-bin.zip; done'
    monkeypatch.setenv('PATH', fake_maven(tmp_path / 'bin', script))
    with pytest.raises(Fatal, match='has checksum'):
        prepare_toolchain()
    assert not [it for it in (tmp_path / 'cache' / 'tools').iterdir() if it.is_dir()]


def test_missing_maven_is_reported_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path))
    monkeypatch.setenv('PATH', '')
    with pytest.raises(Fatal, match='install it'):
        prepare_toolchain()


@pytest.mark.slow
@pytest.mark.jvm
def test_builder_sources_compile_for_java_8(tmp_path: Path) -> None:
    """But for the compiler's own interface, which a compiler for release 8 does not know."""
    tools = prepare_toolchain()
    folder = Path(__file__).parents[5] / 'coevo/languages/java/jvm/builder'
    sources = [file for file in folder.glob('*.java') if 'com.sun.source' not in file.read_text()]
    assert len(sources) > 20
    path = [*tools.builder_class_path, *map(tools.locate_library, COVERAGE)]
    command = [
        tools.java_home / 'bin' / 'javac',
        '--release',
        '8',
        '-Xlint:-options',
        '-d',
        tmp_path,
    ]
    subprocess.run([*command, '-cp', ':'.join(map(str, path)), *sources], check=True)
