"""Runs that are interrupted, killed, or told what is wrong: nothing is lost or half-written."""

from __future__ import annotations

import filecmp
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from coevo.cli import main
from coevo.records import Walk
from coevo.store import Partition
from coevo.store import Store
from flows.options import ReleaseOptions
from flows.publication import publish
from miners.clones import obtain
from tests.projects import NAME
from tests.projects import QUICKLY
from tests.projects import junit
from tests.projects import mined
from tests.projects import pom
from tests.projects import source
from tests.projects import write
from tests.repos import commit
from tests.repos import git
from tests.repos import init

COEVO = Path(sys.executable).with_name('coevo')
PAIRS = 4
PARTITION = Partition(repo=NAME, language='java', walk=Walk.PARENTS)


@pytest.fixture(scope='module')
def work() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix='coevo-test-', dir='/var/tmp') as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    steps = []
    for number in range(PAIRS + 1):
        value = f'    public static int last() {{ return {number}; }}\n'
        test = junit('TillTest', f'rings: assertEquals({number}, Till.last());')
        steps.append({'pom.xml': pom(), **source('Till', value), **test})
    return write(tmp_path_factory.mktemp('shop') / 'repository', steps)


@pytest.fixture(scope='module')
def undisturbed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of a run that nothing happened to."""
    folder = tmp_path_factory.mktemp('undisturbed')
    found = mined(repository, folder / 'store')
    assert found.report.executed == PAIRS
    return released(folder / 'store')


def released(store: Path) -> Path:
    snapshot = store.with_name('snapshot')
    shutil.rmtree(snapshot, ignore_errors=True)
    publish(ReleaseOptions(store=store, snapshot=snapshot))
    return snapshot


def different(one: Path, other: Path) -> list[str]:
    """Files that are not the same bytes; timings are no part of it."""
    names = {p.relative_to(r).as_posix() for r in (one, other) for p in r.rglob('*') if p.is_file()}
    checked = sorted(name for name in names if '/timings/' not in f'/{name}')
    _, mismatch, errors = filecmp.cmpfiles(one, other, checked, shallow=False)
    return mismatch + errors


def start(repository: Path, store: Path, work: Path, *more: str) -> subprocess.Popen[str]:
    # Whoever runs the tests in the background has told all that it starts to ignore Ctrl-C.
    heed = ('env', '--default-signal=INT')
    return subprocess.Popen(
        [
            *heed,
            COEVO,
            'mine',
            repository,
            '--name',
            NAME,
            '--store',
            store,
            '--jobs',
            '1',
            *QUICKLY,
            *more,
        ],
        env={**os.environ, 'COEVO_WORK': str(work)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def segments(store: Path) -> int:
    return len(list(store.glob('partitions/**/*.segment')))


def processes(work: Path) -> list[str]:
    commands = [' '.join(p.info['cmdline'] or ()) for p in psutil.process_iter(['cmdline'])]
    return [line for line in commands if str(work) in line]


def wait_until(met: object, process: subprocess.Popen[str]) -> None:
    """Until a condition holds, or the process is over."""
    assert callable(met)
    deadline = time.monotonic() + 120
    while not met() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def disturb(
    process: subprocess.Popen[str], moment: int, store: Path, work: Path, what: int
) -> None:
    """Send a signal: at once, when the sandbox is up, or after so many segments."""
    if moment == 1:
        wait_until(lambda: processes(work), process)
    elif moment > 1:
        wait_until(lambda: segments(store) >= moment - 1, process)
    process.send_signal(what)
    process.wait(timeout=60)


@pytest.mark.jvm
@pytest.mark.parametrize('moment', range(5))
def test_a_kill_and_another_run_give_the_same_bytes(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path, moment: int
) -> None:
    store = tmp_path / 'store'
    with start(repository, store, work) as process:
        disturb(process, moment, store, work, signal.SIGKILL)
    gone(work)
    with start(repository, store, work) as again:
        again.communicate(timeout=200)
    assert again.returncode == 0
    assert different(released(store), undisturbed) == []
    assert not list(work.iterdir())  # also what the killed run left there


def gone(work: Path) -> None:
    """The kernel ends what belonged to a killed run, but need not have done so at once."""
    deadline = time.monotonic() + 30
    while processes(work):
        assert time.monotonic() < deadline, processes(work)
        time.sleep(0.05)


@pytest.mark.jvm
@pytest.mark.parametrize(
    ('moment', 'what'),
    [*((moment, signal.SIGINT) for moment in range(3)), (1, signal.SIGTERM)],
)
def test_ctrl_c_leaves_a_store_that_goes_on(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path, moment: int, what: int
) -> None:
    store = tmp_path / 'store'
    with start(repository, store, work) as process:
        if moment == 0:
            wait_until(lambda: store.exists(), process)
        disturb(process, moment, store, work, what)
        assert process.stderr is not None
        complaint = process.stderr.read()
    assert process.returncode == 128 + what
    assert complaint == 'coevo: interrupted; what was finished is kept\n'
    gone(work)
    assert not list(work.iterdir())
    assert mined(repository, store).report.executed >= PAIRS - 1 - moment
    assert different(released(store), undisturbed) == []


@pytest.mark.jvm
def test_a_second_run_executes_nothing(
    repository: Path, undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = time.process_time()
    store = undisturbed.with_name('store')
    assert main(['mine', str(repository), '--name', NAME, '--store', str(store), *QUICKLY]) == 0
    assert f'{PAIRS} pairs, 0 mined now, {PAIRS} known before' in capsys.readouterr().out.replace(
        '\n', ' '
    )
    assert time.process_time() - before < 2


@pytest.mark.jvm
def test_a_damaged_object_costs_its_pair(repository: Path, work: Path, tmp_path: Path) -> None:
    """In a process of its own, which has read none of the files before."""
    store = tmp_path / 'store'
    clone = obtain(str(repository), store=store, name=NAME).git_dir
    blob = git(repository, 'rev-parse', 'HEAD:src/main/java/shop/Till.java').strip()
    unpack(clone)
    loose = clone / 'objects' / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[:10])
    with start(repository, store, work) as process:
        output, _ = process.communicate(timeout=200)
    found = list(Store(store).segments(PARTITION))
    dropped = {drop.reason for drop in Store(store).walk(PARTITION).drops}
    assert dropped == {'unreadable_commit', 'root_commit'}, output
    assert sum(len(one.methods) for one in found) == PAIRS - 1


def unpack(clone: Path) -> None:
    """Objects as loose files, of which a test can damage one."""
    for pack in list(clone.glob('objects/pack/*.pack')):
        content = pack.read_bytes()
        for part in clone.glob(f'objects/pack/{pack.stem}.*'):
            part.unlink()
        subprocess.run(
            ['git', f'--git-dir={clone}', 'unpack-objects', '-q'], input=content, check=True
        )


BAD = {
    'no repository': ('not a Git repository', lambda folder: folder.mkdir()),
    'no pom.xml': ('pom.xml', lambda folder: commit(init(folder), 'first', {'a.txt': 'a'})),
    'empty': ('no commit', lambda folder: init(folder)),
}


@pytest.mark.parametrize('case', BAD)
def test_a_source_that_cannot_be_mined(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, make = BAD[case]
    make(tmp_path / 'source')
    refused(['mine', str(tmp_path / 'source'), '--store', str(tmp_path / 'store')], words, capsys)
    assert not (tmp_path / 'store' / 'partitions').exists()


def refused(command: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and one sentence that holds certain words."""
    assert main(command) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith('coevo: ')
    assert complaint.count('\n') == 1
    assert words in complaint


def test_a_shallow_repository(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shallow = tmp_path / 'shallow'
    git(tmp_path, 'clone', '-q', '--depth=1', f'file://{repository}', str(shallow))
    refused(['mine', str(shallow), '--store', str(tmp_path / 'store')], 'shallow', capsys)


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (['--ref', 'nowhere'], 'nowhere'),
        (['--profile', 'nobody'], 'nobody'),
        (['--commits', 'few'], 'few'),
        (['--since', 'yesterday'], 'yesterday'),
        (['--until', '2024-13-01'], '2024-13-01'),
    ],
)
def test_options_that_make_no_sense(
    repository: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    store = tmp_path / 'store'
    refused(['mine', str(repository), '--store', str(store), *arguments], words, capsys)
    assert not (store / 'partitions').exists()


def test_a_store_that_is_none(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'notes.txt').write_text('mine')
    refused(['release', '--store', str(tmp_path), '--snapshot', str(tmp_path / 's')], '', capsys)
    assert [path.name for path in tmp_path.iterdir()] == ['notes.txt']


@pytest.mark.jvm
def test_a_snapshot_folder_that_is_taken(
    undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(undisturbed.with_name('store'))
    (tmp_path / 'taken').mkdir()
    (tmp_path / 'taken' / 'notes.txt').write_text('mine')
    refused(['release', '--store', store, '--snapshot', str(tmp_path / 'taken')], 'taken', capsys)
    assert [path.name for path in (tmp_path / 'taken').iterdir()] == ['notes.txt']
    other = tmp_path / 'other'
    shutil.copytree(undisturbed, other)
    (other / 'README.md').write_text('other')
    refused(['release', '--store', store, '--snapshot', str(other)], 'other', capsys)


@pytest.mark.jvm
def test_two_runs_at_once(repository: Path, undisturbed: Path, work: Path, tmp_path: Path) -> None:
    """Whichever comes first to the partition mines it; the other says so and touches nothing."""
    store = tmp_path / 'store'
    with start(repository, store, work) as one, start(repository, store, work) as other:
        complaints = [process.communicate(timeout=200)[1] for process in (one, other)]
    assert sorted((one.returncode, other.returncode)) == [0, 2]
    quiet, told = sorted(complaints)
    assert not quiet
    assert told == (
        f'coevo: {NAME} (parents) is being mined into {store} by another process: '
        'wait until it ends, or use another --store\n'
    )
    assert different(released(store), undisturbed) == []


@pytest.mark.jvm
def test_a_missing_commit_costs_what_lies_behind_it(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path
) -> None:
    store = tmp_path / 'store'
    clone = lose(repository, store, 'HEAD~2')
    with start(repository, store, work) as process:
        output, _ = process.communicate(timeout=200)
    assert process.returncode == 0
    sentence = f'2 commits cannot be read in {clone}, and what lies behind them is out of reach;'
    assert sentence in ' '.join(output.split())
    shutil.rmtree(clone)
    assert mined(repository, store).report.executed == PAIRS - 1
    assert different(released(store), undisturbed) == []


@pytest.mark.jvm
def test_a_commit_that_is_lost_later_takes_no_pair_along(
    repository: Path, undisturbed: Path, tmp_path: Path
) -> None:
    store = tmp_path / 'store'
    shutil.copytree(undisturbed.with_name('store'), store)
    clone = lose(repository, store, 'HEAD~2')
    assert mined(repository, store).report.warnings
    assert len(Store(store).walk(PARTITION).pairs) == PAIRS
    shutil.rmtree(clone)
    assert mined(repository, store).report.executed == 0
    assert different(released(store), undisturbed) == []


def test_a_clone_without_its_newest_commit(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / 'store'
    lose(repository, store, 'HEAD')
    words = 'if that clone is damaged, delete it and run again'
    refused(['mine', str(repository), '--name', NAME, '--store', str(store)], words, capsys)


def lose(repository: Path, store: Path, rev: str) -> Path:
    """The store's clone, of which a commit's object is gone."""
    clone = obtain(str(repository), store=store, name=NAME).git_dir
    unpack(clone)
    oid = git(repository, 'rev-parse', rev).strip()
    (clone / 'objects' / oid[:2] / oid[2:]).unlink()
    return clone


def test_help_costs_little() -> None:
    code = (
        'import sys; from coevo.cli import main\n'
        'try: main(["--help"])\n'
        'except SystemExit: pass\n'
        'print(sorted({"duckdb", "pyarrow", "prefect", "rich", "git"} & set(sys.modules)))'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == '[]'
