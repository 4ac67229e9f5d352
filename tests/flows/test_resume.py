"""Runs that are interrupted, killed, or told what is wrong: nothing is lost or half-written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.storage.clone_folders import locate_clone
from coevo.storage.store import Store
from miners.cloning.clones import obtain_clone
from tests.flows.mining_runs import OF_TOYS, PAIRS, WITH_TOY, different, released, start
from tests.languages import toys
from tests.projects import NAME, QUICKLY, write
from tests.repos import commit, git, init

pytestmark = pytest.mark.usefixtures('toy')


def test_a_second_run_executes_nothing(
    repository: Path, undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = undisturbed.with_name('store')
    assert main(['mine', str(repository), '--name', NAME, '--store', str(store), *QUICKLY]) == 0
    assert f'{PAIRS} pairs, 0 mined now, {PAIRS} known before' in capsys.readouterr().out.replace(
        '\n', ' '
    )


@pytest.mark.slow
def test_a_damaged_object_loses_only_its_own_pair(
    repository: Path, work: Path, tmp_path: Path
) -> None:
    """In a process of its own, which has read none of the files before."""
    store = tmp_path / 'store'
    clone = obtain_clone(str(repository), store=store, name=NAME).git_dir
    blob = git(repository, 'rev-parse', 'HEAD:till.toy').strip()
    unpack(clone)
    loose = clone / 'objects' / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[:10])
    with start(repository, store, work, command=WITH_TOY) as process:
        output, _ = process.communicate(timeout=600)
    found = list(Store(store).load_current_segments(OF_TOYS))
    dropped = {drop.reason for drop in Store(store).load_walk(OF_TOYS).drops}
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


PAIR_ROWS = 'data/pairs/part-0.parquet'
BAD = {
    'no repository': ('not a Git repository', lambda folder: folder.mkdir()),
    'no pom.xml': ('pom.xml', lambda folder: commit(init(folder), 'first', {'a.txt': 'a'})),
    'empty': ('no commit', lambda folder: init(folder)),
}


@pytest.mark.parametrize('case', BAD)
def test_a_source_that_cannot_be_mined_is_refused(
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


def test_a_shallow_repository_is_refused(
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
def test_invalid_mine_options_are_refused(
    repository: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    store = tmp_path / 'store'
    refused(['mine', str(repository), '--store', str(store), *arguments], words, capsys)
    assert not (store / 'partitions').exists()


def test_a_folder_that_is_no_store_is_refused_and_left_unchanged(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'notes.txt').write_text('mine')
    refused(['release', '--store', str(tmp_path), '--snapshot', str(tmp_path / 's')], '', capsys)
    assert [path.name for path in tmp_path.iterdir()] == ['notes.txt']


@pytest.mark.slow
def test_an_occupied_snapshot_folder_is_refused(
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


@pytest.mark.slow
def test_pairs_behind_a_missing_commit_are_mined_by_the_next_run(
    repository: Path, undisturbed: Path, work: Path, tmp_path: Path
) -> None:
    store = tmp_path / 'store'
    clone = lose(repository, store, 'HEAD~2')
    with start(repository, store, work, command=WITH_TOY) as process:
        output, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    sentence = f'2 commits cannot be read in {clone}, and what lies behind them is out of reach;'
    assert f'{sentence} run again to have it made anew' in ' '.join(output.split())
    assert toys.mined(repository, store).report.executed == PAIRS - 1
    snapshot = released(store)
    assert different(snapshot, undisturbed) == ['croissant.json', PAIR_ROWS, 'manifest.json']
    assert without_histories(snapshot) == without_histories(undisturbed)


def without_histories(snapshot: Path) -> pa.Table:
    """Pairs without the past of their files, which is null where the clone lacked some of it."""
    past = ['file_commits', 'file_contributors', 'file_age_days']
    return pq.read_table(snapshot / PAIR_ROWS).drop_columns(past)


@pytest.mark.slow
def test_a_commit_lost_after_mining_loses_no_mined_pair(
    repository: Path, undisturbed: Path, tmp_path: Path
) -> None:
    store = tmp_path / 'store'
    shutil.copytree(undisturbed.with_name('store'), store)
    clone = locate_clone(store, NAME)
    # Commits that a snapshot needs are looked for by every run, and this one is.
    kept = git(clone, 'for-each-ref', '--format=%(refname)', 'refs/coevo/released').split()
    assert f'refs/coevo/released/{git(repository, "rev-parse", "HEAD~2")}' in kept
    for ref in kept:
        git(clone, 'update-ref', '-d', ref)
    lose(repository, store, 'HEAD~2')
    assert toys.mined(repository, store).report.warnings
    assert len(Store(store).load_walk(OF_TOYS).pairs) == PAIRS
    assert toys.mined(repository, store).report.executed == 0
    assert different(released(store), undisturbed) == []


@pytest.mark.slow
@pytest.mark.parametrize('rev', ['HEAD', 'HEAD~2'])
def test_a_clone_that_lacks_a_needed_commit_is_cloned_anew(
    repository: Path, undisturbed: Path, tmp_path: Path, rev: str
) -> None:
    """The newest one, and one of a released task."""
    store = tmp_path / 'store'
    shutil.copytree(undisturbed.with_name('store'), store)
    lose(repository, store, rev)
    report = toys.mined(repository, store).report
    assert (report.executed, report.warnings) == (0, ())
    assert different(released(store), undisturbed) == []


@pytest.mark.slow
def test_a_pair_that_lacks_a_file_is_mined_after_the_clone_is_made_anew(tmp_path: Path) -> None:
    """One that no walk looks at: the same in all commits."""
    repository = write(
        tmp_path / 'repository',
        [
            {
                **toys.BUILD,
                'words.txt': 'words',
                **toys.source('Till', f'last: {number}'),
                **toys.tests('Till', f'rings: is Till.last {number}'),
            }
            for number in (1, 2)
        ],
    )
    store = tmp_path / 'store'
    lose(repository, store, 'HEAD:words.txt')
    first, again = (toys.mined(repository, store).report for _ in range(2))
    assert [len(report.failures) for report in (first, again)] == [1, 0]
    assert again.executed == 1


def lose(repository: Path, store: Path, rev: str) -> Path:
    """The store's clone, of which an object is gone."""
    clone = obtain_clone(str(repository), store=store, name=NAME).git_dir
    unpack(clone)
    oid = git(repository, 'rev-parse', rev).strip()
    (clone / 'objects' / oid[:2] / oid[2:]).unlink()
    return clone


def test_the_help_command_imports_no_heavy_library() -> None:
    code = (
        'import sys; from coevo.command.main import main\n'
        'try: main(["--help"])\n'
        'except SystemExit: pass\n'
        'print(sorted({"duckdb", "pyarrow", "prefect", "rich", "git"} & set(sys.modules)))'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == '[]'
