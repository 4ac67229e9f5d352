"""Tests and builds that misbehave: each gets its outcome, their neighbours theirs, nothing stays."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.languages.java import built_pair, umpire
from coevo.languages.java.building import settings
from coevo.languages.java.processes import launch
from coevo.languages.java.revisions import shared_builds
from coevo.model.words import Cell, Label, Outcome, Stage
from flows.pipeline import mine
from tests.projects import Mined, junit, mined, options, pom, running, source, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

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
    'leavesProcesses: Till.two(); new ProcessBuilder("setsid", "sleep", "1000").start();',
    'killsEverything: Till.two(); new ProcessBuilder("sh", "-c", "kill -9 -1").start().waitFor();',
    (
        'fills: Till.two(); byte[] block = new byte[1 << 20]; boolean full = false;'
        ' try (java.io.OutputStream out = new java.io.FileOutputStream("fill")) {'
        ' for (int i = 0; i < 100; i++) out.write(block); }'
        ' catch (java.io.IOException e) { full = true; } assertTrue(full);'
    ),
    (
        'forges: Till.two(); String event = "\\n0\\t{\\"e\\":\\"test\\",\\"t\\":0,'
        '\\"outcome\\":\\"pass\\"}\\n0\\t{\\"e\\":\\"end\\",\\"t\\":0,\\"tests\\":1}\\n";'
        ' java.lang.reflect.Method open = Class.forName("coevo.worker.Descriptor")'
        '.getDeclaredMethod("open", int.class); open.setAccessible(true);'
        ' java.io.OutputStream out = (java.io.OutputStream) open.invoke(null, 3);'
        ' out.write(event.getBytes()); Runtime.getRuntime().halt(0);'
    ),
    'loops: while (Till.two() == 2) { }',
)


@pytest.fixture(scope='module')
def patience(work: Path) -> Iterator[None]:
    """Limits that a test can wait for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('COEVO_WORK', str(work))
        for module in (built_pair, launch):
            patch.setattr(module, 'LEAST_CPU_LIMIT', 6.0)
        patch.setattr(launch, 'DISK_BYTES', 64 << 20)
        patch.setattr(shared_builds, 'BUILD_SECONDS', 30.0)
        patch.setattr(umpire, 'CPU_SECONDS', 15.0)
        patch.setattr(umpire.ProjectTests, 'most_cpu_seconds', 15.0)
        small = dataclasses.replace(settings.LIMITS, disk_bytes=300 << 20, processes=300)
        patch.setattr(settings, 'LIMITS', small)
        yield


@pytest.fixture(scope='module')
def hostile(tmp_path_factory: pytest.TempPathFactory, patience: None) -> Mined:
    folder = tmp_path_factory.mktemp('hostile')
    first = {'pom.xml': pom(), **source('Till', ONE)}
    second = {**source('Till', ONE + TWO), **junit('TillTest', *TESTS)}
    return mined(write(folder / 'repository', [first, second]), folder / 'store')


def test_a_hostile_test_that_does_not_pass_gets_no_label(hostile: Mined) -> None:
    """Deaths are errors, a forged report or event changes nothing, a loop is a time-out."""
    assert Counter(drop.reason for drop in hostile.drops if drop.stage is Stage.LABEL) == {
        't_new_c_new_error': 4,
        't_new_c_new_fail': 1,
        't_new_c_new_timeout': 1,
    }


@pytest.mark.parametrize(
    'name',
    [
        *('good', 'killsItsParent', 'prints', 'reads', 'fills'),
        *('leavesThreads', 'leavesProcesses'),
    ],
)
def test_a_passing_test_gets_its_label_whatever_its_neighbours_do(
    hostile: Mined, name: str
) -> None:
    row = hostile.method(name)
    assert (row.t_new_c_new, row.t_new_c_old) == (Outcome.PASS, Outcome.COMPILE_ERROR)
    assert row.label is Label.GENERATION
    assert row.t_new_c_new_passes == row.t_new_c_new_runs
    assert (row.t_new_c_new_runs or 0) >= 3


def test_a_died_test_process_is_recorded_by_its_exit_status(hostile: Mined) -> None:
    """exits, halts and forges end with 0, killsEverything by a signal."""
    signatures = Counter(row.signature for row in hostile.cells if row.outcome is Outcome.ERROR)
    assert set(signatures) == {'exit:0', 'exit:137'}


def test_a_test_that_loses_its_jvm_to_a_neighbour_is_run_again_alone(hostile: Mined) -> None:
    """`exits` comes before `good`, and `loops` after it: no batch ever got to it."""
    found = hostile.runs(hostile.method('good').method_id, Cell.T_NEW_C_NEW)
    assert found == [('alone', 'pass')] * 3


def test_hostile_tests_leave_no_process_and_no_file(hostile: Mined, work: Path) -> None:
    """No process sees the run's folder, which is empty; the store holds all and nothing half."""
    assert not processes_that_see(work)
    assert not list(work.iterdir())
    assert mined_again(hostile) == 0
    names = [path.name for path in hostile.store.rglob('*')]
    assert not [name for name in names if name.endswith(('.tmp', '.part', '~'))]


def processes_that_see(folder: Path) -> list[str]:
    """Processes in whose name space something below a folder is mounted."""
    found = []
    for mounts in Path('/proc').glob('[0-9]*/mountinfo'):
        with contextlib.suppress(OSError):
            if folder.name in mounts.read_text():
                found.append(mounts.with_name('cmdline').read_text())
    return found


def mined_again(found: Mined) -> int:
    return mine(options(found.store.parent / 'repository', found.store)).executed


@pytest.fixture(scope='module')
def builds(tmp_path_factory: pytest.TempPathFactory, patience: None) -> Mined:
    folder = tmp_path_factory.mktemp('builds')
    endless = 'while true; do sleep 1; done'
    full = 'i=0; while head -c 8000000 /dev/zero > fill$i; do i=$((i+1)); done; exit 1'
    forks = 'f() { sleep 0.5; f | f &amp; }; f; sleep 1000'  # as many as may be, not as fast
    spoils = 'setsid sleep 1000 &amp; cat /dev/zero > /tmp/fill; exit 0'
    steps = []
    for number, command in enumerate(['', endless, '', full, '', forks, '', spoils, '']):
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


def built(found: Mined) -> list[str | None]:
    """How the new end of each pair was built, oldest first."""
    rows = sorted(found.pairs, key=lambda row: str(row.new_committer_date))
    return [row.build_new for row in rows]


def test_builds_that_hang_fill_the_disk_or_fork_are_unbuildable(builds: Mined) -> None:
    hangs, fills, forks, spoils = built(builds)[::2]
    assert (hangs, fills) == ('builder_time', 'maven-antrun-plugin:run')
    assert forks not in (None, 'built')
    assert spoils == 'unknown'  # it ended well, but there was no room to say so
    assert not builds.report.failures


def test_a_build_after_a_hostile_build_succeeds(builds: Mined) -> None:
    """Also where a full disk and a process were left behind, as far as a builder lives on."""
    assert built(builds)[1::2] == ['built'] * 4
    signatures = {row.signature or '' for row in builds.cells}
    assert not [text for text in signatures if 'No space left' in text]


def test_hostile_builds_leave_no_process_and_no_file(builds: Mined, work: Path) -> None:
    assert not processes_that_see(work)
    assert not list(work.iterdir())
    assert mined_again(builds) == 0
