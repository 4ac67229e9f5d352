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
from coevo.storage.clone_folders import ClonePins, locate_clone, wait_for_use_lock
from miners.cloning.clones import obtain_clone, pin_clone, pin_existing_clone
from miners.cloning.mirror_git import CRAWL, count_bytes, load_crawl_time, record_clone_refs
from miners.cloning.remotes import FetchLimits, protect_commits_from_removal
from miners.cloning.tombstones import evict_clones_to_make_room
from tests.git_server import Fault
from tests.miners.hosting import Host, hosting, refs
from tests.open_files import list_open_files
from tests.repos import commit, git

NOTHING = FetchLimits(store_bytes=0)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with hosting(tmp_path / 'hosted') as host:
        yield host


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def used_at(store: Path, name: str, seconds: int) -> None:
    os.utime(locate_clone(store, name).with_suffix('.use'), (seconds, seconds))


def test_least_recently_used_clones_are_evicted_and_no_more_than_needed(
    host: Host, store: Path
) -> None:
    for number, name in enumerate(['a/newest', 'a/oldest', 'a/middle']):
        one = count_bytes(obtain_clone(host.url, store=store, name=name).git_dir)
        used_at(store, name, (3, 1, 2)[number])
    assert evict_clones_to_make_room(store / 'clones', FetchLimits(store_bytes=3 * one)) == ()
    assert evict_clones_to_make_room(store / 'clones', FetchLimits(store_bytes=2 * one + 999)) == (
        'a+oldest',
    )
    assert evict_clones_to_make_room(
        store / 'clones', FetchLimits(store_bytes=2 * one + 999), needed=one
    ) == ('a+middle',)
    assert locate_clone(store, 'a/newest').is_dir()


def test_run_evicts_unused_clones_to_make_room_for_its_own(host: Host, store: Path) -> None:
    one = count_bytes(obtain_clone(host.url, store=store, name='a/first').git_dir)
    with pin_clone(
        host.url, store=store, name='a/other', limits=FetchLimits(store_bytes=one + 999)
    ) as x:
        assert not locate_clone(store, 'a/first').exists()
        assert x.git_dir.is_dir()


def test_clone_in_use_is_not_evicted(host: Host, store: Path) -> None:
    with pin_clone(host.url, store=store, name='octo/cat') as clone:
        assert evict_clones_to_make_room(store / 'clones', NOTHING) == ()
        with wait_for_use_lock(clone.git_dir):
            pass
        assert evict_clones_to_make_room(store / 'clones', NOTHING) == ()
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+cat',)


def test_one_file_descriptor_pins_any_number_of_clones(host: Host, store: Path) -> None:
    clones = [obtain_clone(host.url, store=store, name=f'octo/{name}').git_dir for name in 'abc']
    with ClonePins() as pins:
        for git_dir in (*clones[:2], clones[0]):
            pins.pin(git_dir)
        assert len(list_open_files(store)) == 1
        assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+c',)
    assert list_open_files(store) == []
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+a', 'octo+b')
    assert not list((store / 'clones').glob('*.pins'))


def test_pins_of_a_killed_process_do_not_prevent_eviction(host: Host, store: Path) -> None:
    git_dir = obtain_clone(host.url, store=store, name='octo/cat').git_dir
    code = (
        'import os, pathlib, signal, sys; from coevo.storage.clone_folders import ClonePins;'
        'pins = ClonePins(); pins.pin(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)'
    )
    subprocess.run([sys.executable, '-c', code, git_dir], check=False)
    assert len(list((store / 'clones').glob('*.pins'))) == 1
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+cat',)
    assert not list((store / 'clones').glob('*.pins'))


def test_clone_that_cannot_be_fetched_again_is_not_evicted(
    host: Host, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    obtain_clone(str(host.cat), store=store, name='a/folder')
    obtain_clone(host.url, store=store, name='octo/cat')
    protect_commits_from_removal(
        obtain_clone(host.url, store=store, name='a/released').git_dir,
        [git(host.cat, 'rev-parse', 'v1')],
    )
    host.backend.faults.append(Fault(status=404))
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ()
    host.backend.faults.append(Fault(status=503))
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ()
    assert 'above their limit' in caplog.text
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+cat',)


def test_evicted_clone_is_restored_as_it_was(host: Host, store: Path) -> None:
    """With what the source had lost before the eviction, and the time of its crawl."""
    for number in (2, 3):
        obtain_clone(host.url, store=store, name='octo/cat')
        rev = commit(host.cat, 'new', {'B.java': f'class B {{ int b{number}; }}'})
        git(host.cat, 'update-ref', f'refs/pull/{number}/head', rev)
    git(host.cat, 'update-ref', '-d', 'refs/pull/1/head')
    clone = obtain_clone(host.url, store=store, name='octo/cat')
    record_clone_refs(Repository(clone.git_dir))
    before, crawled = refs(clone), load_crawl_time(clone.git_dir)
    assert sum(ref.startswith('refs/coevo/kept/') for ref in before) == 3
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+cat',)
    assert count_bytes(store / 'clones') < 350_000  # three pull requests of 100 kB
    with pin_existing_clone(store, 'octo/cat') as git_dir:
        assert refs(git_dir) == before
        record_clone_refs(Repository(git_dir))
        assert load_crawl_time(git_dir) == crawled
        git(git_dir, 'fsck', '--full', '--strict')
    assert {path.name for path in (store / 'clones').iterdir()} == {
        'octo+cat.git',
        'octo+cat.lock',
        'octo+cat.use',
    }


def test_commits_deleted_at_the_source_since_the_last_fetch_survive_eviction(
    host: Host, store: Path
) -> None:
    clone = obtain_clone(host.url, store=store, name='octo/cat')
    lost = git(host.cat, 'rev-parse', 'refs/pull/1/head')
    git(host.cat, 'update-ref', '-d', 'refs/pull/1/head')
    evict_clones_to_make_room(store / 'clones', NOTHING)
    git(host.cat, 'gc', '--quiet', '--prune=now')
    obtain_clone(host.url, store=store, name='octo/cat')
    assert refs(clone)[f'refs/coevo/kept/{lost}'] == lost
    assert Repository(clone.git_dir).get_commit(lost).rev == lost


def test_history_rewritten_after_eviction_is_fetched_by_id_or_reported_lost(
    host: Host, store: Path
) -> None:
    """It is asked for by its id; if it is gone for good, a sentence says so."""
    lost = git(host.cat, 'rev-parse', 'refs/pull/1/head')
    for pruned in (False, True):
        git(host.cat, 'update-ref', 'refs/pull/1/head', lost)
        clone = obtain_clone(host.url, store=store, name=f'a/pruned-{pruned}')
        git(host.cat, 'update-ref', '-d', 'refs/pull/1/head')
        evict_clones_to_make_room(store / 'clones', NOTHING)
        if not pruned:
            branch = git(host.cat, 'rev-parse', 'main')
            commit(host.cat, 'other', {'Z.java': 'class Z {}'}, parents=[])
            again = obtain_clone(host.url, store=store, name='a/pruned-False')
            assert (refs(again)[f'refs/coevo/kept/{lost}'], again.warnings) == (lost, ())
            git(host.cat, 'reset', '-q', '--hard', branch)
            continue
        commit(host.cat, 'other', {'Z.java': 'class Z {}'}, parents=[])
        for ref in refs(host.cat):
            if ref != 'refs/heads/main':
                git(host.cat, 'update-ref', '-d', ref)
        git(host.cat, 'reflog', 'expire', '--expire=all', '--all')
        git(host.cat, 'gc', '--quiet', '--prune=now')
        (sentence,) = obtain_clone(host.url, store=store, name='a/pruned-True').warnings
        assert lost in sentence
        git(clone.git_dir, 'fsck', '--connectivity-only')


def test_unfinished_clone_can_be_evicted(host: Host, store: Path) -> None:
    host.backend.faults.append(Fault(after=300_000))
    with pytest.raises(Transient):
        obtain_clone(host.url, store=store, name='octo/cat')
    assert count_bytes(store / 'clones') > 200_000
    assert evict_clones_to_make_room(store / 'clones', NOTHING) == ('octo+cat',)
    assert count_bytes(store / 'clones') == 0


def test_restoring_a_clone_with_new_commits_records_a_new_crawl(host: Host, store: Path) -> None:
    obtain_clone(host.url, store=store, name='octo/cat')
    clone = locate_clone(store, 'octo/cat')
    record_clone_refs(Repository(clone))
    before = (clone / CRAWL).read_bytes()
    evict_clones_to_make_room(store / 'clones', NOTHING)
    commit(host.cat, 'more', {'A.java': 'class A { int a; }'})
    with pin_existing_clone(store, 'octo/cat'):
        assert (clone / CRAWL).read_bytes() != before


def test_a_clone_of_another_machine_is_fetched_from_its_address(host: Host, store: Path) -> None:
    with pin_existing_clone(store, 'octo/cat', host.url) as git_dir:
        assert load_crawl_time(git_dir)
        assert evict_clones_to_make_room(store / 'clones', NOTHING) == ()
    with pin_existing_clone(store, 'octo/dog') as git_dir:
        assert not git_dir.exists()
