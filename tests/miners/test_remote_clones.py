"""Clones over HTTP: what they bring, and what becomes of those that end in the midst."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from coevo.git.repository import Repository
from coevo.model.errors import Fatal, Transient
from coevo.storage.clone_folders import locate_clone
from miners.cloning import clones
from miners.cloning.clones import get_scratch_folder, obtain_clone
from miners.cloning.mirror_git import CRAWL, record_clone_refs
from miners.cloning.remotes import (
    FetchLimits,
    RepositoryReason,
    Unclonable,
    protect_commits_from_removal,
)
from tests.git_server import Fault
from tests.miners.hosting import PULLS, Host, hosting, noise, refs
from tests.repos import commit, damage, git

NAME = 'octo/cat'


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with hosting(tmp_path / 'hosted') as host:
        yield host


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def offered(host: Host) -> dict[str, str]:
    return {ref: oid for ref, oid in refs(host.cat).items() if not ref.endswith('/merge')}


def test_pull_request_heads_are_cloned_and_trial_merges_are_not(host: Host, store: Path) -> None:
    clone = obtain_clone(host.url, store=store, name=NAME)
    assert refs(clone) == offered(host)
    assert sum(ref.startswith('refs/pull/') for ref in refs(clone)) == PULLS
    git(clone.git_dir, 'fsck', '--full', '--strict')


def test_update_from_an_unchanged_source_requests_only_its_refs(host: Host, store: Path) -> None:
    obtain_clone(host.url, store=store, name=NAME)
    host.backend.requests.clear()
    obtain_clone(host.url, store=store, name=NAME)
    assert len(host.backend.requests) == 2


def test_interrupted_clone_resumes_where_it_stopped(host: Host, store: Path) -> None:
    host.backend.faults.append(Fault(after=300_000))
    with pytest.raises(Transient, match='could not be fetched'):
        obtain_clone(host.url, store=store, name=NAME)
    assert not locate_clone(store, NAME).exists()
    host.backend.sent = 0
    assert refs(obtain_clone(host.url, store=store, name=NAME)) == offered(host)
    assert 100_000 * PULLS < host.backend.sent < 100_000 * PULLS + 20_000


def test_default_branch_too_long_for_one_attempt_is_fetched_tag_by_tag(
    host: Host, store: Path
) -> None:
    for number in (9, 10, 11, 12):
        commit(host.cat, 'more', {f'{number}.bin': noise(100_000, seed=number)})
        git(host.cat, 'tag', f'v{number}')
    tries = 0
    while not locate_clone(store, NAME).exists():
        tries += 1
        assert tries < 10
        host.backend.faults[:] = [Fault(after=350_000)]
        with suppress(Transient):
            obtain_clone(host.url, store=store, name=NAME)
    assert refs(locate_clone(store, NAME)) == offered(host)


def running(word: str) -> list[str]:
    """Command lines of processes that hold a word."""
    found = []
    for process in psutil.process_iter(['cmdline']):
        words = process.info['cmdline'] or []
        if any(word in one for one in words):
            found.append(' '.join(words))
    return found


def test_killed_clone_resumes_where_it_stopped(host: Host, store: Path) -> None:
    host.backend.faults.append(Fault(after=300_000, hang=True))
    code = 'from miners.cloning.clones import obtain_clone; import pathlib, sys;'
    code += 'obtain_clone(sys.argv[1], store=pathlib.Path(sys.argv[2]), name="octo/cat")'
    with subprocess.Popen([sys.executable, '-c', code, host.url, str(store)]) as process:
        while host.backend.sent < 300_000:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    host.backend.close()  # or what the killed run started would wait as long as any clone does
    deadline = time.monotonic() + 120
    while running(host.url):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    host.backend.sent = 0
    assert refs(obtain_clone(host.url, store=store, name=NAME)) == offered(host)
    assert host.backend.sent < 100_000 * PULLS + 20_000


def test_commits_that_the_source_rewrote_after_an_interruption_are_kept(
    host: Host, store: Path
) -> None:
    before = git(host.cat, 'rev-parse', 'main')
    host.backend.faults.append(Fault(after=300_000))
    with pytest.raises(Transient):
        obtain_clone(host.url, store=store, name=NAME)
    commit(host.cat, 'other', {'A.java': 'class A { int a; }'}, parents=[])
    clone = obtain_clone(host.url, store=store, name=NAME)
    assert refs(clone) == {**offered(host), f'refs/coevo/kept/{before}': before}


def test_clone_interrupted_under_another_address_starts_anew(host: Host, store: Path) -> None:
    host.backend.faults.append(Fault(after=300_000))
    with pytest.raises(Transient):
        obtain_clone(host.url, store=store, name=NAME)
    host.backend.sent = 0
    obtain_clone(f'{host.url}/', store=store, name=NAME)
    assert host.backend.sent > 200_000


@pytest.mark.parametrize(
    ('status', 'reason', 'sentence'),
    [
        (404, RepositoryReason.GONE, 'cannot be found or is private'),
        (403, RepositoryReason.FORBIDDEN, 'cannot be read without logging in'),
        (401, RepositoryReason.FORBIDDEN, 'refuses the login of its address (401)'),
    ],
)
def test_http_refusal_gives_a_drop_with_its_reason(
    host: Host, store: Path, status: int, reason: RepositoryReason, sentence: str
) -> None:
    host.backend.faults.append(Fault(status=status))
    with pytest.raises(Fatal) as caught:
        obtain_clone(host.url.replace('//', '//u:secret@'), store=store, name=NAME)
    assert isinstance(caught.value, Unclonable)
    assert caught.value.reason is reason
    assert sentence in str(caught.value)
    assert 'secret' not in str(caught.value)


@pytest.mark.parametrize(
    'fault',
    [
        Fault(path='service=', status=503),
        Fault(path='POST', status=429),
        Fault(path='POST', status=502),
        Fault(path='service=', after=20),
    ],
)
def test_server_fault_is_transient_and_the_next_attempt_succeeds(
    host: Host, store: Path, fault: Fault
) -> None:
    host.backend.faults.append(fault)
    with pytest.raises(Transient, match=f'{host.url} could not be fetched: '):
        obtain_clone(host.url, store=store, name=NAME)
    assert refs(obtain_clone(host.url, store=store, name=NAME)) == offered(host)


def test_silent_server_is_abandoned_after_the_time_limit(host: Host, store: Path) -> None:
    host.backend.faults.append(Fault(after=250_000, hang=True))
    before = time.monotonic()
    with pytest.raises(Transient, match='could not be fetched'):
        obtain_clone(host.url, store=store, name=NAME, limits=FetchLimits(silence=1))
    assert time.monotonic() - before < 10


def test_interrupted_update_leaves_the_clone_as_it_was(host: Host, store: Path) -> None:
    before = refs(obtain_clone(host.url, store=store, name=NAME))
    commit(host.cat, 'second', {'A.java': 'class A { int a; }'})
    host.backend.faults.append(Fault(path='POST', skip=1, status=500))
    with pytest.raises(Transient):
        obtain_clone(host.url, store=store, name=NAME)
    assert before.items() <= refs(locate_clone(store, NAME)).items()
    assert not list(locate_clone(store, NAME).rglob('tmp_*'))
    assert refs(obtain_clone(host.url, store=store, name=NAME)) == offered(host)


def test_clone_above_the_size_limit_is_refused_and_leaves_no_files(host: Host, store: Path) -> None:
    for size in (100_000, 350_000):  # ends in the default branch, and among the pull requests
        with pytest.raises(Unclonable, match=f'{size:,} bytes') as caught:
            obtain_clone(host.url, store=store, name=NAME, limits=FetchLimits(clone_bytes=size))
        assert caught.value.reason is RepositoryReason.CLONE_TOO_LARGE
        assert not locate_clone(store, NAME).exists()
        assert not get_scratch_folder(locate_clone(store, NAME)).exists()
        with pytest.raises(Unclonable, match=f'{size:,} bytes'):
            obtain_clone(
                str(host.cat), store=store, name=NAME, limits=FetchLimits(clone_bytes=size)
            )
    enough = FetchLimits(clone_bytes=700_000)
    assert refs(obtain_clone(host.url, store=store, name=NAME, limits=enough)) == offered(host)


def test_expected_size_above_the_limit_is_refused_without_a_request(
    host: Host, store: Path
) -> None:
    limits = FetchLimits(clone_bytes=1000)
    with pytest.raises(Unclonable) as caught:
        obtain_clone(host.url, store=store, name=NAME, limits=limits, expected_bytes=1001)
    assert caught.value.reason is RepositoryReason.CLONE_TOO_LARGE
    assert not host.backend.requests


def test_source_that_lacks_objects_is_refused_as_unreadable(host: Host, store: Path) -> None:
    damage(host.cat, git(host.cat, 'rev-parse', 'main:A.java'))
    with pytest.raises(Unclonable, match='damaged where it lies') as caught:
        obtain_clone(host.url, store=store, name=NAME)
    assert caught.value.reason is RepositoryReason.UNREADABLE


@pytest.mark.parametrize('local', [True, False])
def test_repository_with_sha256_is_refused_by_a_true_sentence(
    tmp_path: Path, store: Path, local: bool
) -> None:
    repo = tmp_path / 'long'
    repo.mkdir()
    git(repo, 'init', '-q', '-b', 'main', '--object-format=sha256')
    commit(repo, 'one', {'A.java': 'class A {}'})
    with pytest.raises(Unclonable, match='SHA-256, which coevo does not read') as caught:
        obtain_clone(str(repo) if local else repo.as_uri(), store=store, name=NAME)
    assert caught.value.reason is RepositoryReason.UNREADABLE


def test_deleted_default_branch_is_replaced_by_another_branch(host: Host, store: Path) -> None:
    old = git(host.cat, 'rev-parse', 'main')
    assert obtain_clone(host.url, store=store, name=NAME).default_ref == 'refs/heads/main'
    commit(host.cat, 'other', {'A.java': 'class A { int a; }'}, parents=[])
    git(host.cat, 'branch', 'trunk')
    git(host.cat, 'checkout', '-q', '--detach')
    git(host.cat, 'branch', '-q', '-D', 'main')
    git(host.cat, 'symbolic-ref', 'HEAD', 'refs/heads/main')  # as hosts leave it
    clone = obtain_clone(host.url, store=store, name=NAME)
    assert clone.default_ref == 'refs/heads/trunk'
    assert refs(clone)[f'refs/coevo/kept/{old}'] == old


def test_refs_with_non_utf8_names_or_odd_line_ends_are_cloned(host: Host, store: Path) -> None:
    rev = git(host.cat, 'rev-parse', 'main')
    names = ['refs/heads/n\udce4me', 'refs/tags/a\u2028b', 'refs/heads/c\x85d', 'refs/heads/q\'"$x']
    for name in names:
        git(host.cat, 'update-ref', name, rev)
    assert refs(obtain_clone(host.url, store=store, name=NAME)) == offered(host)
    commit(host.cat, 'second', {'A.java': 'class A { int a; }'})
    git(host.cat, 'update-ref', '-d', names[0])
    clone = obtain_clone(host.url, store=store, name=NAME)
    assert refs(clone) == offered(host)
    assert set(names[1:]) <= refs(clone).keys()


def test_commits_that_tasks_need_survive_a_force_push(host: Host, store: Path) -> None:
    """Also one to which no ref of the source ever led; and keeping them is no crawl."""
    first = git(host.cat, 'rev-parse', 'main')
    head = commit(host.cat, 'second', {'A.java': 'class A { int a; }'})
    clone = obtain_clone(host.url, store=store, name=NAME)
    repository = Repository(clone.git_dir)
    record_clone_refs(repository)
    before = (clone.git_dir / CRAWL).read_bytes()
    protect_commits_from_removal(clone.git_dir, [first, head])
    record_clone_refs(repository)
    assert (clone.git_dir / CRAWL).read_bytes() == before
    commit(host.cat, 'other', {'Z.java': 'class Z {}'}, parents=[])
    for ref in offered(host):
        if ref != 'refs/heads/main':
            git(host.cat, 'update-ref', '-d', ref)
    obtain_clone(host.url, store=store, name=NAME)
    git(clone.git_dir, 'gc', '--quiet', '--prune=now')
    assert [Repository(clone.git_dir).get_commit(rev).rev for rev in (first, head)] == [first, head]
    with pytest.raises(Fatal, match='damaged'):
        protect_commits_from_removal(clone.git_dir, ['0' * 39 + '1'])


def test_packs_of_many_fetches_are_joined(
    host: Host, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clones, '_MOST_PACKS', 2)
    for number in range(4):
        commit(host.cat, 'more', {'A.java': f'class A {{ int a{number}; }}'})
        clone = obtain_clone(host.url, store=store, name=NAME)
        assert len(list(clone.git_dir.glob('objects/pack/*.pack'))) <= 2
    git(clone.git_dir, 'fsck', '--full', '--strict')
