"""RefactoringMiner in its worker: what it finds, and how little harm comes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from coevo.git.repository import Repository
from coevo.languages.java.refactorings.miner import MinerLimits, RefactoringMiner
from coevo.languages.refactorings import Refactorings, RefactoringStatus, RefactoringsUnknown
from tests import repos

pytestmark = pytest.mark.jvm

OLD = 'package p; class Sum { int add(int a, int b) { return a + b; } int two() { return add(1, 1); } }'
NEW = OLD.replace('add', 'plus')
LONG_AGO = {'Sum.java': OLD.encode()}
TODAY = {'Sum.java': NEW.encode()}


@pytest.fixture(scope='module')
def miner() -> Iterator[RefactoringMiner]:
    with RefactoringMiner() as opened:
        yield opened


def big(methods: int, factor: int) -> bytes:
    """A class whose every method is like every other, so that all are compared with all."""
    body = ''.join(
        f'int m{n}x{factor}(int a) {{ int s = {n}; '
        + ''.join(f'if (a > {k * factor + n}) {{ s += a * {k + factor}; }} ' for k in range(12))
        + 'return s; } '
        for n in range(methods)
    )
    return f'package p; class Big {{ {body} }}'.encode()


def types(found: Refactorings) -> list[str]:
    assert found.status is RefactoringStatus.FOUND, found.why
    return [one.type for one in found.refactorings]


def test_refactorings_between_revisions_are_found_without_a_checkout(
    tmp_path: Path, miner: RefactoringMiner
) -> None:
    folder = repos.init(tmp_path / 'r')
    path = 'src/main/java/p/Sum.java'
    old = repos.commit(folder, 'old', {path: OLD, 'src/main/java/p/Same.java': 'class Same {}'})
    new = repos.commit(folder, 'new', {path: NEW, 'README.md': 'changed'})
    repos.git(folder, 'checkout', '-q', '--orphan', 'empty')
    found = miner.find(Repository(folder / '.git'), old, new)
    assert types(found) == ['Rename Method']
    (rename,) = found.refactorings
    assert rename.description.startswith('Rename Method package add(a int, b int) : int renamed to')
    (left,) = rename.left
    assert (left.file, left.start_line, left.end_line) == (path, 1, 1)
    assert (left.element_type, left.element) == (
        'METHOD_DECLARATION',
        'package add(a int, b int) : int',
    )
    assert left.source == 'int add(int a, int b) { return a + b; }'
    assert [one.source for one in rename.right] == ['int plus(int a, int b) { return a + b; }']


def test_moved_class_between_packages_with_unchanged_files_is_no_rename(
    tmp_path: Path, miner: RefactoringMiner
) -> None:
    folder = repos.init(tmp_path / 'r')
    body = 'public class Sum { public int add(int a, int b) { return a + b; } }'
    staying = {
        f'src/main/java/{p}/Stays{p}.java': f'package {p}; class Stays{p} {{}}' for p in 'pq'
    }
    moving = 'src/main/java/p/Sum.java'
    old = repos.commit(folder, 'old', {moving: f'package p; {body}', **staying})
    moved = {moving: None, 'src/main/java/q/Sum.java': f'package q; {body}'}
    new = repos.commit(folder, 'new', moved)
    assert types(miner.find(Repository(folder / '.git'), old, new)) == ['Move Class']


def test_miner_worker_is_reused_and_repeats_its_result(miner: RefactoringMiner) -> None:
    first = miner.compare(LONG_AGO, TODAY)
    pid = miner.process.pid
    miner.compare({'Big.java': big(3, 1)}, {'Big.java': big(3, 2)})
    assert miner.compare(LONG_AGO, TODAY) == first
    assert miner.process.pid == pid


@pytest.mark.slow
def test_jvm_options_of_the_user_do_not_reach_the_miner_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('JAVA_TOOL_OPTIONS', '-Xmx1k')
    with RefactoringMiner() as miner:
        assert types(miner.compare(LONG_AGO, TODAY)) == ['Rename Method']


def test_files_of_only_one_revision_yield_no_refactoring(miner: RefactoringMiner) -> None:
    assert types(miner.compare({}, TODAY)) == []
    assert types(miner.compare(LONG_AGO, {})) == []


def test_file_that_is_not_utf_8_is_still_read(tmp_path: Path, miner: RefactoringMiner) -> None:
    folder = repos.init(tmp_path / 'r')
    path = os.fsdecode(b'src/caf\xe9/Sum.java')
    comment = b'/* \xe9t\xe9 */ '
    old = repos.commit(folder, 'old', {path: comment + OLD.encode()})
    new = repos.commit(folder, 'new', {path: comment + NEW.encode()})
    found = miner.find(Repository(folder / '.git'), old, new)
    assert types(found) == ['Rename Method']
    assert found.refactorings[0].left[0].file == path
    with_mark = {'Sum.java': b'\xef\xbb\xbf' + OLD.encode()}
    assert types(miner.compare(with_mark, TODAY)) == ['Rename Method']


def test_refactorings_are_found_beside_a_file_that_does_not_parse(miner: RefactoringMiner) -> None:
    broken = {'Broken.java': b'package p; class Broken { void f( { ]'}
    found = miner.compare({**LONG_AGO, **broken}, {**TODAY, 'Broken.java': b'<<<<<<< HEAD'})
    assert 'Rename Method' in types(found)


# -- limits ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_comparison_that_hangs_times_out_and_the_next_pair_works() -> None:
    """The parser takes minutes for brackets in brackets."""
    ends = [
        f'package p; class Deep {{ int f() {{ return {"(" * 200_000}{n}{")" * 200_000}; }} }}'.encode()
        for n in (1, 2)
    ]
    with RefactoringMiner(MinerLimits(cpu_seconds=5)) as miner:
        assert types(miner.compare(LONG_AGO, TODAY)) == ['Rename Method']
        pid = miner.process.pid
        assert pid is not None
        found = miner.compare({'Deep.java': ends[0]}, {'Deep.java': ends[1]})
        assert (found.status, found.why, found.refactorings) == (
            RefactoringStatus.UNKNOWN,
            RefactoringsUnknown.TIMEOUT,
            (),
        )
        assert not psutil.pid_exists(pid)
        assert types(miner.compare(LONG_AGO, TODAY)) == ['Rename Method']


@pytest.mark.slow
def test_comparison_out_of_memory_is_unknown_and_the_next_pair_works() -> None:
    with RefactoringMiner(MinerLimits(heap_bytes=48 << 20)) as miner:
        found = miner.compare({'Big.java': big(3000, 3)}, {'Big.java': big(3000, 5)})
        assert found.why is RefactoringsUnknown.OUT_OF_MEMORY
        assert types(miner.compare(LONG_AGO, TODAY)) == ['Rename Method']


@pytest.mark.parametrize('limits', [MinerLimits(files=0), MinerLimits(bytes=100)])
def test_pair_that_is_too_large_is_not_sent_to_the_miner(limits: MinerLimits) -> None:
    with RefactoringMiner(limits) as miner:
        assert miner.compare(LONG_AGO, TODAY).why is RefactoringsUnknown.TOO_LARGE
        assert miner.process.pid is None


@pytest.mark.slow
def test_killed_miner_worker_loses_only_its_current_pair() -> None:
    with RefactoringMiner() as miner:
        assert types(miner.compare(LONG_AGO, TODAY)) == ['Rename Method']
        assert miner.process.pid is not None
        worker = psutil.Process(miner.process.pid)

        def kill_at_work() -> None:
            idle = sum(worker.cpu_times()[:2])
            while sum(worker.cpu_times()[:2]) < idle + 0.5:
                time.sleep(0.02)
            worker.kill()

        killer = threading.Thread(target=kill_at_work)
        killer.start()
        found = miner.compare({'Big.java': big(400, 3)}, {'Big.java': big(400, 5)})
        killer.join()
        assert found.why is RefactoringsUnknown.CRASHED
        assert types(miner.compare(LONG_AGO, TODAY)) == ['Rename Method']


def test_missing_jdk_makes_the_refactorings_of_every_pair_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('COEVO_JDKS', '7')
    with RefactoringMiner() as miner:
        for _ in range(2):
            found = miner.compare(LONG_AGO, TODAY)
            assert (found.status, found.why) == (
                RefactoringStatus.UNKNOWN,
                RefactoringsUnknown.NO_JVM,
            )


def test_jdk_without_a_jvm_counts_as_a_missing_jdk(
    tmp_path: Path, miner: RefactoringMiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'javac').touch(mode=0o755)
    (tmp_path / 'release').write_text('JAVA_VERSION="17.0.1"\n')
    miner.compare(LONG_AGO, TODAY)  # fetches the libraries with a JDK that works
    monkeypatch.setenv('JAVA_HOME', str(tmp_path))
    monkeypatch.setenv('COEVO_JDKS', str(tmp_path))
    with RefactoringMiner() as another:
        assert another.compare(LONG_AGO, TODAY).why is RefactoringsUnknown.NO_JVM


# -- no orphans --------------------------------------------------------------------------------

# A shell that starts the tests in the background lets them ignore SIGINT.
PARENT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from coevo.languages.java.refactorings.miner import RefactoringMiner
from tests.coevo.languages.java.refactorings.test_miner import LONG_AGO, TODAY, big
with RefactoringMiner() as miner:
    miner.compare(LONG_AGO, TODAY)
    print(miner.process.pid, flush=True)
    miner.compare({'Big.java': big(400, 3)}, {'Big.java': big(400, 5)})
"""


@pytest.mark.parametrize(
    'number',
    [
        signal.SIGKILL,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_busy_miner_worker_ends_with_its_parent_process(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[5],
    ) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        idle = sum(worker.cpu_times()[:2])
        while sum(worker.cpu_times()[:2]) < idle + 0.5:
            time.sleep(0.02)
        parent.send_signal(number)
        parent.wait(timeout=120)
        worker.wait(timeout=120)
