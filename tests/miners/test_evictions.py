"""Bounded disk: what goes, what stays, and what comes back of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.errors import Transient
from coevo.storage.clone_folders import Pins
from coevo.storage.clone_folders import clone_folder
from coevo.storage.clone_folders import using
from miners.cloning.clones import at_hand
from miners.cloning.clones import obtain
from miners.cloning.clones import obtained
from miners.cloning.evictions import make_room
from miners.cloning.mirror_git import bytes_of
from miners.cloning.remotes import FetchLimits
from miners.cloning.retention import keep
from miners.discovery.crawls import CRAWL
from miners.discovery.crawls import crawled_at
from miners.discovery.crawls import record_crawl
from tests.git_server import Fault
from tests.miners.hosting import Host
from tests.miners.hosting import hosting
from tests.miners.hosting import refs
from tests.repos import commit
from tests.repos import git

NOTHING = FetchLimits(store_bytes=0)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with hosting(tmp_path / 'hosted') as host:
        yield host


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def used_at(store: Path, name: str, seconds: int) -> None:
    os.utime(clone_folder(store, name).with_suffix('.use'), (seconds, seconds))


def test_the_least_used_clones_give_way_and_no_more_than_must(host: Host, store: Path) -> None:
    for number, name in enumerate(['a/newest', 'a/oldest', 'a/middle']):
        one = bytes_of(obtain(host.url, store=store, name=name).git_dir)
        used_at(store, name, (3, 1, 2)[number])
    assert make_room(store / 'clones', FetchLimits(store_bytes=3 * one)) == ()
    assert make_room(store / 'clones', FetchLimits(store_bytes=2 * one + 999)) == ('a+oldest',)
    assert make_room(store / 'clones', FetchLimits(store_bytes=2 * one + 999), needed=one) == (
        'a+middle',
    )
    assert clone_folder(store, 'a/newest').is_dir()


def test_a_run_makes_room_for_itself(host: Host, store: Path) -> None:
    one = bytes_of(obtain(host.url, store=store, name='a/first').git_dir)
    with obtained(
        host.url, store=store, name='a/other', limits=FetchLimits(store_bytes=one + 999)
    ) as x:
        assert not clone_folder(store, 'a/first').exists()
        assert x.git_dir.is_dir()


def test_what_is_in_use_stays(host: Host, store: Path) -> None:
    with obtained(host.url, store=store, name='octo/cat') as clone:
        assert make_room(store / 'clones', NOTHING) == ()
        with using(clone.git_dir):
            pass
        assert make_room(store / 'clones', NOTHING) == ()
    assert make_room(store / 'clones', NOTHING) == ('octo+cat',)


def test_any_number_of_clones_stays_for_one_descriptor(host: Host, store: Path) -> None:
    clones = [obtain(host.url, store=store, name=f'octo/{name}').git_dir for name in 'abc']
    open_before = descriptors()
    with Pins() as pins:
        for git_dir in (*clones[:2], clones[0]):
            pins.add(git_dir)
        assert descriptors() == open_before + 1
        assert make_room(store / 'clones', NOTHING) == ('octo+c',)
    assert descriptors() == open_before
    assert make_room(store / 'clones', NOTHING) == ('octo+a', 'octo+b')
    assert not list((store / 'clones').glob('*.pins'))


def test_what_a_killed_process_wanted_to_stay_gives_way(host: Host, store: Path) -> None:
    git_dir = obtain(host.url, store=store, name='octo/cat').git_dir
    code = (
        'import os, pathlib, signal, sys; from coevo.storage.clone_folders import Pins;'
        'pins = Pins(); pins.add(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)'
    )
    subprocess.run([sys.executable, '-c', code, git_dir], check=False)
    assert len(list((store / 'clones').glob('*.pins'))) == 1
    assert make_room(store / 'clones', NOTHING) == ('octo+cat',)
    assert not list((store / 'clones').glob('*.pins'))


def descriptors() -> int:
    return len(list(Path('/proc/self/fd').iterdir()))


def test_what_cannot_be_had_again_stays(
    host: Host, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    obtain(str(host.cat), store=store, name='a/folder')
    obtain(host.url, store=store, name='octo/cat')
    keep(
        obtain(host.url, store=store, name='a/released').git_dir, [git(host.cat, 'rev-parse', 'v1')]
    )
    host.backend.faults.append(Fault(status=404))
    assert make_room(store / 'clones', NOTHING) == ()
    host.backend.faults.append(Fault(status=503))
    assert make_room(store / 'clones', NOTHING) == ()
    assert 'above their limit' in caplog.text
    assert make_room(store / 'clones', NOTHING) == ('octo+cat',)


def test_an_evicted_clone_comes_back_as_it_was(host: Host, store: Path) -> None:
    """With what the source had lost before the eviction, and the time of its crawl."""
    for number in (2, 3):
        obtain(host.url, store=store, name='octo/cat')
        rev = commit(host.cat, 'new', {'B.java': f'class B {{ int b{number}; }}'})
        git(host.cat, 'update-ref', f'refs/pull/{number}/head', rev)
    git(host.cat, 'update-ref', '-d', 'refs/pull/1/head')
    clone = obtain(host.url, store=store, name='octo/cat')
    record_crawl(Repository(clone.git_dir))
    before, crawled = refs(clone), crawled_at(clone.git_dir)
    assert sum(ref.startswith('refs/coevo/kept/') for ref in before) == 3
    assert make_room(store / 'clones', NOTHING) == ('octo+cat',)
    assert bytes_of(store / 'clones') < 350_000  # three pull requests of 100 kB
    with at_hand(store, 'octo/cat') as git_dir:
        assert refs(git_dir) == before
        record_crawl(Repository(git_dir))
        assert crawled_at(git_dir) == crawled
        git(git_dir, 'fsck', '--full', '--strict')
    assert {path.name for path in (store / 'clones').iterdir()} == {
        'octo+cat.git',
        'octo+cat.lock',
        'octo+cat.use',
    }


def test_what_the_source_loses_while_nobody_looks_survives_the_eviction(
    host: Host, store: Path
) -> None:
    clone = obtain(host.url, store=store, name='octo/cat')
    lost = git(host.cat, 'rev-parse', 'refs/pull/1/head')
    git(host.cat, 'update-ref', '-d', 'refs/pull/1/head')
    make_room(store / 'clones', NOTHING)
    git(host.cat, 'gc', '--quiet', '--prune=now')
    obtain(host.url, store=store, name='octo/cat')
    assert refs(clone)[f'refs/coevo/kept/{lost}'] == lost
    assert Repository(clone.git_dir).commit(lost).rev == lost


def test_a_past_that_the_source_rewrote_after_the_eviction(host: Host, store: Path) -> None:
    """It is asked for by its id; if it is gone for good, a sentence says so."""
    lost = git(host.cat, 'rev-parse', 'refs/pull/1/head')
    for pruned in (False, True):
        git(host.cat, 'update-ref', 'refs/pull/1/head', lost)
        clone = obtain(host.url, store=store, name=f'a/pruned-{pruned}')
        git(host.cat, 'update-ref', '-d', 'refs/pull/1/head')
        make_room(store / 'clones', NOTHING)
        if not pruned:
            branch = git(host.cat, 'rev-parse', 'main')
            commit(host.cat, 'other', {'Z.java': 'class Z {}'}, parents=[])
            again = obtain(host.url, store=store, name='a/pruned-False')
            assert (refs(again)[f'refs/coevo/kept/{lost}'], again.warnings) == (lost, ())
            git(host.cat, 'reset', '-q', '--hard', branch)
            continue
        commit(host.cat, 'other', {'Z.java': 'class Z {}'}, parents=[])
        for ref in refs(host.cat):
            if ref != 'refs/heads/main':
                git(host.cat, 'update-ref', '-d', ref)
        git(host.cat, 'reflog', 'expire', '--expire=all', '--all')
        git(host.cat, 'gc', '--quiet', '--prune=now')
        (sentence,) = obtain(host.url, store=store, name='a/pruned-True').warnings
        assert lost in sentence
        git(clone.git_dir, 'fsck', '--connectivity-only')


def test_half_a_clone_gives_way_too(host: Host, store: Path) -> None:
    host.backend.faults.append(Fault(after=300_000))
    with pytest.raises(Transient):
        obtain(host.url, store=store, name='octo/cat')
    assert bytes_of(store / 'clones') > 200_000
    assert make_room(store / 'clones', NOTHING) == ('octo+cat',)
    assert bytes_of(store / 'clones') == 0


def test_what_comes_back_with_more_is_a_crawl(host: Host, store: Path) -> None:
    obtain(host.url, store=store, name='octo/cat')
    clone = clone_folder(store, 'octo/cat')
    record_crawl(Repository(clone))
    before = (clone / CRAWL).read_bytes()
    make_room(store / 'clones', NOTHING)
    commit(host.cat, 'more', {'A.java': 'class A { int a; }'})
    with at_hand(store, 'octo/cat'):
        assert (clone / CRAWL).read_bytes() != before


def test_a_clone_of_another_machine_is_fetched_from_its_address(host: Host, store: Path) -> None:
    with at_hand(store, 'octo/cat', host.url) as git_dir:
        assert crawled_at(git_dir)
        assert make_room(store / 'clones', NOTHING) == ()
    with at_hand(store, 'octo/dog') as git_dir:
        assert not git_dir.exists()
