"""Tests and builds that misbehave: each gets its outcome, their neighbours theirs, nothing stays."""

from __future__ import annotations

import dataclasses
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from coevo.languages.java_maven import launch
from coevo.languages.java_maven import settings
from coevo.languages.java_maven import workshop
from coevo.languages.java_maven import yard
from coevo.records import Label
from coevo.records import Outcome
from coevo.records import Stage
from flows.pipeline import mine
from tests.projects import Mined
from tests.projects import junit
from tests.projects import mined
from tests.projects import options
from tests.projects import pom
from tests.projects import running
from tests.projects import source
from tests.projects import write

pytestmark = pytest.mark.jvm

ONE = '    public static int one() { return 1; }\n'
TWO = '    public static int two() { return 2; }\n'

TESTS = (
    'good: assertEquals(2, Till.two());',
    'exits: Till.two(); System.exit(0);',
    'halts: System.out.println("{}"); Till.two(); Runtime.getRuntime().halt(0);',
    (
        'killsItsParent: Till.two(); String parent = new String(java.nio.file.Files.readAllBytes('
        'java.nio.file.Paths.get("/proc/self/stat"))).split(" ")[3];'
        ' for (String pid : new String[] {"1", parent})'
        ' new ProcessBuilder("sh", "-c", "kill -9 " + pid).start().waitFor();'
    ),
    (
        'prints: byte[] block = new byte[1 << 20]; Till.two();'
        ' for (int i = 0; i < 1024; i++) System.out.write(block);'
    ),
    'reads: Till.two(); assertEquals(-1, System.in.read());',
    (
        'reports: Till.two(); java.io.File folder = new java.io.File("target/surefire-reports");'
        ' folder.mkdirs(); java.nio.file.Files.write(folder.toPath().resolve("TEST-shop.XTest.xml"),'
        ' "<testsuite tests=\\"1\\" failures=\\"0\\"/>".getBytes()); fail("not as reported");'
    ),
    'leavesThreads: Till.two(); new Thread(() -> { while (true) { } }).start();',
    'loops: while (Till.two() == 2) { }',
)


@pytest.fixture(scope='module')
def work() -> Iterator[Path]:
    """A folder for runs to work in that is ours alone and open to the sandbox's users."""
    with tempfile.TemporaryDirectory(prefix='coevo-test-', dir='/var/tmp') as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope='module')
def patience(work: Path) -> Iterator[None]:
    """Limits that a test can wait for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('COEVO_WORK', str(work))
        for module in (workshop, launch):
            patch.setattr(module, 'LEAST_CPU_LIMIT', 6.0)
        patch.setattr(yard, 'BUILD_SECONDS', 40.0)
        small = dataclasses.replace(settings.LIMITS, disk_bytes=300 << 20, processes=300)
        patch.setattr(settings, 'LIMITS', small)
        yield


@pytest.fixture(scope='module')
def hostile(tmp_path_factory: pytest.TempPathFactory, patience: None) -> Mined:
    folder = tmp_path_factory.mktemp('hostile')
    first = {'pom.xml': pom(), **source('Till', ONE)}
    second = {**source('Till', ONE + TWO), **junit('TillTest', *TESTS)}
    return mined(write(folder / 'repository', [first, second]), folder / 'store')


def test_what_does_not_pass_has_no_label(hostile: Mined) -> None:
    """System.exit and halt are errors, a forged report changes nothing, a loop is a time-out."""
    assert Counter(drop.reason for drop in hostile.drops if drop.stage is Stage.LABEL) == {
        'tnew_cnew_error': 2,
        'tnew_cnew_fail': 1,
        'tnew_cnew_timeout': 1,
    }


@pytest.mark.parametrize('name', ['good', 'killsItsParent', 'prints', 'reads', 'leavesThreads'])
def test_what_passes_is_decided_whatever_its_neighbours_do(hostile: Mined, name: str) -> None:
    row = hostile.method(name)
    assert (row.tnew_cnew, row.tnew_cold) == (Outcome.PASS, Outcome.COMPILE_ERROR)
    assert row.label is Label.GENERATION
    assert row.tnew_cnew_passes == row.tnew_cnew_runs
    assert (row.tnew_cnew_runs or 0) >= 3


def test_a_death_is_known_by_its_exit_status(hostile: Mined) -> None:
    signatures = {row.signature for row in hostile.cells if row.outcome is Outcome.ERROR}
    assert signatures == {'exit:0'}


def test_nothing_stays(hostile: Mined, work: Path) -> None:
    commands = [' '.join(process.cmdline()) for process in psutil.process_iter(['cmdline'])]
    assert not [line for line in commands if str(work) in line]
    assert not list(work.iterdir())
    assert mined_again(hostile) == 0


def mined_again(found: Mined) -> int:
    return mine(options(found.store.parent / 'repository', found.store)).executed


@pytest.fixture(scope='module')
def builds(tmp_path_factory: pytest.TempPathFactory, patience: None) -> Mined:
    folder = tmp_path_factory.mktemp('builds')
    endless = 'while true; do sleep 1; done'
    full = 'i=0; while head -c 8000000 /dev/zero > fill$i; do i=$((i+1)); done; exit 1'
    forks = 'f() { f | f &amp; }; f; sleep 1000'
    steps = []
    for number, command in enumerate(['', endless, '', full, '', forks, '']):
        steps.append(
            {
                'pom.xml': pom(running(command) if command else ''),
                **source('Till', f'    public static int last() {{ return {number}; }}\n'),
                **junit(
                    f'Till{number}Test', f'rings{number}: assertEquals({number}, Till.last());'
                ),
            }
        )
    return mined(write(folder / 'repository', steps), folder / 'store')


def test_builds_that_hang_fill_the_disk_or_fork_are_unbuildable(builds: Mined) -> None:
    rows = sorted(builds.pairs, key=lambda row: str(row.new_committer_date))
    bad = [row.build_new for row in rows][::2]
    assert bad[0] == 'builder_time'
    assert bad[1] == 'maven-antrun-plugin:run'
    assert bad[2] is not None
    assert bad[2] != 'built'
    assert [row.build_new for row in rows][1::2] == ['built'] * 3
    reasons = {drop.reason for drop in builds.drops}
    assert 'tnew_cnew_unbuildable' in reasons
    assert not builds.report.failures
