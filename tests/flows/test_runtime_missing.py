"""Pairs that a JDK might build which is not here: brought if that can be, else dropped for a while."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import LIMIT, find_jdks
from coevo.storage.store import Store
from flows.missing_pairs import MineReport
from flows.options import MineOptions
from flows.pipeline import mine
from tests.coevo.debian.archive import CODENAME, configure, publish
from tests.projects import junit, options, pom, source, write

HAD = {jdk.feature for jdk in find_jdks({})}

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.skipif(shutil.which('apt-get') is None, reason='this machine has no apt'),
    pytest.mark.skipif(not HAD.isdisjoint({11, 21}), reason='what is to be missing is here'),
]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine knows an archive that has no package, and nobody says which JDKs may be used."""
    archive = tmp_path / 'archive'
    (archive / 'pool').mkdir(parents=True)
    publish(archive, CODENAME)
    monkeypatch.setenv('APT_CONFIG', str(configure(tmp_path, archive, insecure=True)))
    monkeypatch.delenv(LIMIT)


def test_a_jdk_that_cannot_be_installed_is_reported_once(empty: None) -> None:
    said: list[str] = []
    supply = JdkSupply(brings=True, say=said.append)
    (wanted,) = (jdk for jdk in supply.offered if jdk.feature == 11)
    assert not supply.has_installation_failed(wanted)
    assert supply.get_or_install_jdk(wanted) is None
    assert supply.get_or_install_jdk(wanted) is None
    assert supply.has_installation_failed(wanted)
    assert not supply.try_to_provide('11')
    assert [line for line in said if 'goes on without it' in line] == [said[-1]]


def test_only_jdks_within_the_configured_limit_are_offered(empty: None) -> None:
    supply = JdkSupply(brings=True, environment={LIMIT: '17'})
    assert {jdk.feature for jdk in supply.offered} == {17}
    assert JdkSupply().offered == JdkSupply().known


def test_a_pair_without_its_jdk_is_dropped_and_mined_once_the_jdk_is_there(
    empty: None, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nashorn left with JDK 15 and List.of came with 9, so that a JDK 8 which is here does not do.
    gone = '    static Object left = java.util.List.of(jdk.nashorn.api.scripting.JSObject.class);\n'
    repository = write(
        tmp_path / 'demo',
        [
            {'pom.xml': pom(), **source('Till', f'{gone}    static int two() {{ return {n}; }}\n')}
            | junit('TillTest', f'two: assertEquals({n}, Till.two());')
            for n in (2, 3)
        ],
    )
    run = options(repository, tmp_path / 'store')
    report = mine(run)
    (((reason, detail), count),) = dropped(run, report).items()
    assert (reason, count) == ('runtime_missing', 1)
    assert re.fullmatch(r'jdk 11; with [\d.]+: maven-compiler-plugin:compile', detail), detail
    assert Store(run.store).list_unmined_pairs(report.partitions[0]) == ()
    assert mine(replace(run, brings_runtimes=False)).reused == 1
    monkeypatch.setenv('JAVA_HOME', str(so_called(folder / 'jdk', '11.0.1')))
    again = mine(run)
    assert (again.reused, again.executed) == (0, 1)


def dropped(run: MineOptions, report: MineReport) -> Counter[tuple[str, str]]:
    segments = Store(run.store).load_current_segments(report.partitions[0])
    return Counter(
        (str(drop.reason), drop.detail) for segment in segments for drop in segment.drops
    )


def so_called(folder: Path, version: str) -> Path:
    """A JDK that says to be another one."""
    home = next(jdk.home for jdk in find_jdks() if jdk.feature == 17)
    large = shutil.ignore_patterns('jmods', 'src.zip', 'release')
    shutil.copytree(home, folder, ignore=large, ignore_dangling_symlinks=True)
    (folder / 'release').write_text(f'JAVA_VERSION="{version}"\n')
    return folder
