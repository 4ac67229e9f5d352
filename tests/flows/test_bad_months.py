"""What goes wrong around a month: each is one sentence where a person reads it, and nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.sandboxes.clock import find_libraries
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.place import Url
from coevo.storage.places import open_place
from tests import buckets
from tests.flows.mining_runs import WITH_TOY, different
from tests.flows.shops import Shop
from tests.git_server import Fault, GitBackend, serving
from tests.projects import NAME, QUICKLY
from tests.repos import git

HOUR = 3600


def one_sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """What a refused command said last, which is all that it said of the refusal."""
    told = capsys.readouterr().err
    assert 'Traceback' not in told
    return told.strip().splitlines()[-1]


@pytest.mark.slow
def test_release_resumes_after_the_bucket_refused_its_keys(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After some files of a release were written; it is finished when they are back."""
    left: list[int] = []

    def refused(method: str, path: str) -> bool:
        if method != 'PUT' or not left:
            return False
        left[0] -= 1
        return left[0] < 0

    with buckets.serving(refused) as endpoint:
        buckets.connect(endpoint, monkeypatch)
        target = Url(f'{buckets.new_bucket()}/2024-01')
        words = ('--store', str(shop.folder / 'store'), '--snapshot', target, '--month', '2024-01')
        left.append(4)
        assert main(['release', *words]) == 2
        told = one_sentence(capsys)
        assert 'the object store refuses the keys that it was given; see AWS_ACCESS_KEY_ID' in told
        assert open_place(target).read('manifest.json') is None
        left.clear()
        assert main(['release', *words]) == 0
        assert shop.release('calm', '2024-01') == 0
        assert verify_snapshot(target) == []
        names = [entry.name for entry in open_place(target).list_files('')]
        files = [path for path in (shop.folder / 'calm').rglob('*') if path.is_file()]
        assert len(names) == len(files)


@pytest.mark.slow
@pytest.mark.parametrize('jump', [-HOUR, HOUR])
def test_clock_an_hour_off_does_not_change_the_release(shop: Shop, jump: int) -> None:
    """Of the machine that mines, and of the one that releases."""
    wrong = Shop(folder=shop.folder.with_name('wrong'))
    shutil.copytree(shop.repository, wrong.repository)
    store = ('--store', str(wrong.folder / 'store'))
    clock = (
        f'LD_PRELOAD={find_libraries()[0]}',
        f'FAKETIME={jump:+d}',
        'FAKETIME_DONT_FAKE_MONOTONIC=1',
    )
    mining = ('mine', str(wrong.repository), *store, '--name', NAME, *QUICKLY, '--jobs', '1')
    release = ('release', *store, '--snapshot', str(wrong.folder / 'first'), '--month', '2024-01')
    for words in (mining, release):
        subprocess.run(['env', *clock, *WITH_TOY, *words], check=True, capture_output=True)
    assert shop.release('first', '2024-01') == 0
    assert different(shop.folder / 'first', wrong.folder / 'first') == []


# What becomes of a remote repository, with what a person reads at the next run.
def renamed(folder: Path, backend: GitBackend) -> None:
    (folder / 'octo' / 'cat').rename(folder / 'octo' / 'lion')


def emptied(folder: Path, backend: GitBackend) -> None:
    shutil.rmtree(folder / 'octo' / 'cat')
    git(folder, 'init', '-q', '--bare', str(folder / 'octo' / 'cat'))


def made_private(folder: Path, backend: GitBackend) -> None:
    backend.faults.append(Fault(status=401, times=None))


BAD: dict[str, tuple[Callable[[Path, GitBackend], None], str]] = {
    'renamed': (renamed, 'cannot be found or is private; check the name'),
    'emptied': (emptied, 'is empty: it has no commit to walk from'),
    'private': (made_private, 'asks for a login (401): it is private, renamed or gone'),
}


@pytest.fixture
def remote(two_months: Shop, tmp_path: Path) -> Path:
    """A folder to be served, with the shop's repository as octo/cat."""
    folder = tmp_path / 'remote'
    shutil.copytree(two_months.repository, folder / 'octo' / 'cat')
    return folder


def mine(url: str, shop: Shop) -> int:
    words = ('--store', str(shop.folder / 'store'), '--name', NAME, *QUICKLY, '--jobs', '1')
    return main(['mine', url, *words])


@pytest.mark.sampled(1)
@pytest.mark.parametrize('what', sorted(BAD))
def test_mined_pairs_of_a_vanished_repository_are_still_released(
    toy: None, what: str, remote: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was mined of it stays, and is released."""
    change, sentence = BAD[what]
    backend, shop = GitBackend(remote), Shop(folder=tmp_path)
    with serving(backend) as url:
        assert mine(f'{url}/octo/cat', shop) == 0
        change(remote, backend)
        capsys.readouterr()
        assert mine(f'{url}/octo/cat', shop) == 2
        assert sentence in one_sentence(capsys)
        backend.faults.clear()
        assert shop.release('first', '2024-01') == 0
        assert shop.tasks('first') == [('2024-01', '01-20')]
        if what == 'renamed':
            assert mine(f'{url}/octo/lion', shop) == 0
            assert '0 mined now' in capsys.readouterr().out


def test_mined_pairs_of_a_force_pushed_repository_stay_in_releases(
    toy: None, remote: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was mined before stays: in the month that is out, and in the one after it."""
    shop = Shop(folder=tmp_path)
    with serving(GitBackend(remote)) as url:
        assert mine(f'{url}/octo/cat', shop) == 0
        assert shop.release('first', '2024-01') == 0
        git(remote / 'octo' / 'cat', 'reset', '-q', '--hard', 'main~2')
        over = Shop(folder=tmp_path / 'over')
        (over.folder).mkdir()
        (remote / 'octo' / 'cat').rename(over.repository)
        over.commit(7, '2024-02-11')
        over.repository.rename(remote / 'octo' / 'cat')
        assert mine(f'{url}/octo/cat', shop) == 0
        assert shop.release('again', '2024-01') == 0
        assert different(tmp_path / 'first', tmp_path / 'again') == []
        previous = ('--previous', str(tmp_path / 'first'))
        assert shop.release('second', '2024-02', *previous) == 0
    assert shop.tasks('second') == [
        ('2024-01', '01-20'),
        ('2024-02', '02-03'),
        ('2024-02', '02-11'),
    ]
