from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.errors import Fatal, Transient
from miners.cloning.clones import Clone, obtain_clone
from tests.repos import commit, damage, git, init


@pytest.fixture
def source(tmp_path: Path) -> Path:
    repo = init(tmp_path / 'demo')
    commit(repo, 'first', {'A.java': 'class A {}'})
    return repo


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def refs(clone: Clone) -> dict[str, str]:
    listing = git(clone.git_dir, 'for-each-ref', '--format=%(refname) %(objectname)')
    return dict(line.split(' ') for line in listing.splitlines())


def head(repo: Path) -> str:
    return git(repo, 'rev-parse', 'HEAD')


def test_a_work_tree_a_git_folder_and_a_bare_clone_can_be_cloned(
    source: Path, store: Path, tmp_path: Path
) -> None:
    bare = tmp_path / 'bare.git'
    git(source, 'clone', '-q', '--bare', str(source), str(bare))
    for name in (source, source / '.git', bare, f'file://{source}'):
        clone = obtain_clone(str(name), store=store, name='a/b')
        assert Repository(clone.git_dir).resolve(clone.default_ref) == head(source)
        assert clone.git_dir == store / 'clones' / 'a+b.git'


def test_a_clone_has_all_refs_except_trial_merges_of_the_host(source: Path, store: Path) -> None:
    rev = head(source)
    git(source, 'tag', '-a', '-m', 'one', 'v1')
    for ref in ('refs/heads/topic', 'refs/pull/7/head', 'refs/pull/7/merge', 'refs/odd/one'):
        git(source, 'update-ref', ref, rev)
    git(source, 'update-ref', f'refs/replace/{rev}', rev)
    clone = obtain_clone(str(source), store=store)
    expected = {'refs/heads/main', 'refs/heads/topic', 'refs/odd/one', 'refs/pull/7/head'}
    assert set(refs(clone)) == {*expected, 'refs/tags/v1'}
    assert clone.default_ref == 'refs/heads/main'


def test_a_clone_takes_only_objects_and_shares_none_with_the_source(
    source: Path, store: Path, tmp_path: Path
) -> None:
    borrower = tmp_path / 'borrower'
    git(source, 'clone', '-q', '--shared', str(source), str(borrower))
    (borrower / '.git/hooks').mkdir(exist_ok=True)
    hook = borrower / '.git/hooks/post-checkout'
    hook.write_text('#!/bin/sh\n')
    git(borrower, 'config', 'core.fsmonitor', 'touch /tmp/never')
    clone = obtain_clone(str(borrower), store=store)
    shutil.rmtree(source)
    git(clone.git_dir, 'fsck', '--full', '--strict')
    assert not (clone.git_dir / 'hooks').exists()
    assert not (clone.git_dir / 'objects/info/alternates').exists()
    assert 'fsmonitor' not in (clone.git_dir / 'config').read_text()
    assert all(p.stat().st_nlink == 1 for p in clone.git_dir.rglob('*') if p.is_file())


@pytest.mark.parametrize(
    'origin',
    [
        'https://github.com/octo/cat',
        'https://github.com/octo/cat.git',
        'https://user:secret@github.com/octo/cat/',
        'git@github.com:octo/cat.git',
        'ssh://git@github.com/octo/cat',
    ],
)
def test_an_origin_on_github_names_a_local_repository(
    source: Path, store: Path, origin: str
) -> None:
    git(source, 'remote', 'add', 'origin', origin)
    clone = obtain_clone(str(source), store=store)
    assert (clone.repo, clone.url) == ('octo/cat', 'https://github.com/octo/cat')


@pytest.mark.parametrize('origin', ['https://example.org/github.com/a/b', '../elsewhere', None])
def test_any_other_local_repository_is_named_by_its_folder(
    source: Path, store: Path, origin: str | None
) -> None:
    if origin:
        git(source, 'remote', 'add', 'origin', origin)
    clone = obtain_clone(str(source), store=store)
    assert (clone.repo, clone.url) == ('local/demo', None)


def test_the_current_folder_and_oddly_named_folders_can_be_cloned(
    source: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source)
    assert obtain_clone('.', store=store).repo == 'local/demo'
    odd = tmp_path / '-odd: näme.git'
    source.rename(odd)
    assert obtain_clone(str(odd), store=store).repo == 'local/odd-n-me'


def test_a_given_name_takes_precedence_over_the_origin(source: Path, store: Path) -> None:
    git(source, 'remote', 'add', 'origin', 'https://github.com/octo/cat')
    assert obtain_clone(str(source), store=store, name='my/own').repo == 'my/own'


@pytest.mark.parametrize('name', ['alone', '../up', 'a/..', 'a/b/c', 'a/b+c', '-a/b', 'a/'])
def test_a_name_that_is_not_owner_slash_name_is_refused(
    source: Path, store: Path, name: str
) -> None:
    with pytest.raises(Fatal, match='--name OWNER/NAME'):
        obtain_clone(str(source), store=store, name=name)


def test_an_unchanged_source_is_not_fetched_again(source: Path, store: Path) -> None:
    first = obtain_clone(str(source), store=store)
    before = {path: path.stat().st_mtime_ns for path in first.git_dir.rglob('*')}
    assert obtain_clone(str(source), store=store) == first
    assert {path: path.stat().st_mtime_ns for path in first.git_dir.rglob('*')} == before


def test_a_second_run_fetches_new_commits(source: Path, store: Path) -> None:
    obtain_clone(str(source), store=store)
    new = commit(source, 'second', {'B.java': 'class B {}'})
    clone = obtain_clone(str(source), store=store)
    assert refs(clone) == {'refs/heads/main': new}


def test_commits_that_the_source_rewrites_or_deletes_are_kept(source: Path, store: Path) -> None:
    base = head(source)
    rewritten = commit(source, 'second', {'A.java': 'class A { int a; }'})
    git(source, 'branch', 'topic', rewritten)
    obtain_clone(str(source), store=store)
    git(source, 'branch', '-D', 'topic')
    git(source, 'branch', 'topic/deeper')  # cannot stand beside the branch `topic`
    amended = commit(source, 'amended', {'A.java': 'class A { long a; }'}, parents=[base])
    clone = obtain_clone(str(source), store=store)
    assert refs(clone) == {
        'refs/heads/main': amended,
        'refs/heads/topic/deeper': rewritten,
        f'refs/coevo/kept/{rewritten}': rewritten,
    }
    git(source, 'branch', '-D', 'topic/deeper')
    for _ in range(2):
        clone = obtain_clone(str(source), store=store)
        assert Repository(clone.git_dir).get_commit(rewritten).rev == rewritten
        assert refs(clone)[f'refs/coevo/kept/{rewritten}'] == rewritten


def test_the_commit_of_a_detached_head_is_the_default_ref(source: Path, store: Path) -> None:
    first = head(source)
    git(source, 'checkout', '-q', '--detach')
    lonely = commit(source, 'on no branch', {'B.java': 'class B {}'})
    assert obtain_clone(str(source), store=store).default_ref == lonely
    git(source, 'checkout', '-q', '--detach', first)
    clone = obtain_clone(str(source), store=store)
    assert clone.default_ref == first
    assert Repository(clone.git_dir).get_commit(lonely).rev == lonely
    git(source, 'checkout', '-q', 'main')
    assert obtain_clone(str(source), store=store).default_ref == 'refs/heads/main'


def test_a_head_without_a_commit_makes_another_branch_the_default_ref(
    source: Path, store: Path
) -> None:
    git(source, 'symbolic-ref', 'HEAD', 'refs/heads/unborn')
    assert obtain_clone(str(source), store=store).default_ref == 'refs/heads/main'


def test_a_linked_work_tree_is_read_at_its_own_head(
    source: Path, store: Path, tmp_path: Path
) -> None:
    git(source, 'worktree', 'add', '-q', '-b', 'side', str(tmp_path / 'linked'))
    clone = obtain_clone(str(tmp_path / 'linked'), store=store)
    assert (clone.repo, clone.default_ref) == ('local/linked', 'refs/heads/side')
    assert 'refs/heads/main' in refs(clone)


def test_leftovers_of_a_killed_clone_do_not_block_the_next_clone(source: Path, store: Path) -> None:
    leftover = store / 'clones' / '.local+demo.git.x1y2'
    (leftover / 'objects').mkdir(parents=True)
    clone = obtain_clone(str(source), store=store)
    assert not leftover.exists()
    commit(source, 'second', {'B.java': 'class B {}'})
    (clone.git_dir / 'refs/heads/main.lock').touch()
    (clone.git_dir / 'packed-refs.lock').touch()
    (clone.git_dir / 'objects/pack/tmp_pack_1').touch()
    clone = obtain_clone(str(source), store=store)
    assert refs(clone)['refs/heads/main'] == head(source)
    assert not list(clone.git_dir.rglob('tmp_*'))


def test_a_failed_clone_leaves_no_folder(source: Path, store: Path) -> None:
    damage(source, git(source, 'rev-parse', 'HEAD:A.java'))
    with pytest.raises(Fatal, match='repair it'):
        obtain_clone(str(source), store=store)
    assert [path.name for path in (store / 'clones').iterdir()] == ['local+demo.lock']


def test_an_unrelated_repository_is_not_fetched_into_a_clone(
    source: Path, store: Path, tmp_path: Path
) -> None:
    obtain_clone(str(source), store=store)
    other = init(tmp_path / 'other' / 'demo')
    commit(other, 'unrelated', {'Z.java': 'class Z {}'})
    with pytest.raises(Fatal, match='--name of its own'):
        obtain_clone(str(other), store=store)
    moved = tmp_path / 'moved' / 'demo'
    moved.parent.mkdir()
    source.rename(moved)
    assert obtain_clone(str(moved), store=store).repo == 'local/demo'


def test_an_empty_repository_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='has no commit'):
        obtain_clone(str(init(tmp_path / 'empty')), store=store)


def test_a_shallow_clone_is_refused(source: Path, store: Path, tmp_path: Path) -> None:
    commit(source, 'second', {'B.java': 'class B {}'})
    git(source, 'clone', '-q', '--depth=1', f'file://{source}', str(tmp_path / 'cut'))
    with pytest.raises(Fatal, match='unshallow'):
        obtain_clone(str(tmp_path / 'cut'), store=store)


@pytest.mark.parametrize(
    'bad',
    [
        '',
        '-',
        '--upload-pack=touch pwned',
        'ext::sh -c touch% pwned',
        'fd::3',
        'ssh://-oProxyCommand=touch/x',
        'user@-oProxyCommand=touch:x',
        'no/such/path',
        'owner/..',
        'file:///nonexistent',
    ],
)
def test_a_dangerous_or_missing_source_is_refused(bad: str, store: Path) -> None:
    with pytest.raises(Fatal, match=r'name a|neither'):
        obtain_clone(bad, store=store)
    assert not store.exists()


@pytest.mark.parametrize(
    'bad',
    [
        *(
            'file:',
            'file:/',
            'file://',
            'file:///',
            'file:////',
            'FILE://',
            'file://host',
            'file://host/x',
            'file://.',
        ),
        *(
            'https://',
            'https://host',
            'ssh://host',
            'ssh://host/',
            'git@',
            'git@host:',
            'OWNER/',
            '/NAME',
            '/',
        ),
        *(
            ' ',
            '\t',
            '\n',
            '.git',
            'owner/name\n',
            'https://host/a\nb',
            'owner/na\0me',
            'file:///a\0b',
            '-x/y',
        ),
    ],
)
def test_a_source_without_a_repository_never_means_the_current_folder(
    bad: str, source: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = source / 'inside'
    folder.mkdir()
    monkeypatch.chdir(source if bad.startswith(('file', 'FILE')) else folder)
    with pytest.raises(Fatal, match=r'name a|neither|names no path'):
        obtain_clone(bad, store=store)
    assert not store.exists()


def test_a_file_url_may_name_localhost(source: Path, store: Path) -> None:
    assert (
        obtain_clone(f'file://localhost{source}', store=store).repo
        == obtain_clone(str(source), store=store).repo
    )


def test_a_folder_that_is_no_repository_is_refused(
    store: Path, tmp_path: Path, source: Path
) -> None:
    commit(source, 'inside', {'inside/A.java': 'class A {}'})
    for folder in (tmp_path, source / 'inside'):
        with pytest.raises(Fatal, match='not a Git repository'):
            obtain_clone(str(folder), store=store)
    told = (
        f'a folder of {source}: name that.*git subtree split --prefix=inside --branch only-inside'
    )
    with pytest.raises(Fatal, match=told):
        obtain_clone(str(source / 'inside'), store=store)


def test_no_split_is_suggested_for_a_folder_that_no_commit_has(
    store: Path, tmp_path: Path, source: Path
) -> None:
    (source / 'new').mkdir()
    unborn = init(tmp_path / 'unborn')
    (unborn / 'new').mkdir()
    for folder in (source / 'new', source / '.git' / 'hooks', unborn / 'new'):
        folder.mkdir(exist_ok=True)
        with pytest.raises(Fatal, match=r': name that$'):
            obtain_clone(str(folder), store=store)


def test_a_folder_inside_git_is_refused_though_the_work_tree_lies_elsewhere(
    store: Path, tmp_path: Path, source: Path
) -> None:
    (tmp_path / 'elsewhere').mkdir()
    git(source, 'config', 'core.worktree', str(tmp_path / 'elsewhere'))
    (source / '.git' / 'hooks').mkdir(exist_ok=True)
    with pytest.raises(Fatal, match='hooks is not a Git repository; name a clone'):
        obtain_clone(str(source / '.git' / 'hooks'), store=store)


@pytest.mark.parametrize('name', ['$HOME', '${HOME}', '~', '%41'])
def test_a_folder_is_cloned_whatever_its_name_stands_for_in_a_shell(
    source: Path, store: Path, name: str
) -> None:
    expected = obtain_clone(str(source), store=store, name='a/b').default_ref
    folder = source.rename(source.with_name(name))
    assert obtain_clone(str(folder), store=store, name='c/d').default_ref == expected


def test_git_environment_variables_do_not_affect_a_clone(
    source: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = init(tmp_path / 'elsewhere')
    monkeypatch.setenv('GIT_DIR', str(elsewhere / '.git'))
    monkeypatch.setenv('GIT_CONFIG_COUNT', '1')
    monkeypatch.setenv('GIT_CONFIG_KEY_0', 'core.hooksPath')
    monkeypatch.setenv('GIT_CONFIG_VALUE_0', '/nonexistent')
    clone = obtain_clone(str(source), store=store)
    assert refs(clone) == {'refs/heads/main': head(source)}
    assert not list((elsewhere / '.git/objects').rglob('*.pack'))


def test_an_unreachable_server_is_a_transient_error_without_its_password(store: Path) -> None:
    with pytest.raises(Transient) as caught:
        obtain_clone('http://user:secret@127.0.0.1:1/a/b.git', store=store)
    assert 'secret' not in str(caught.value)


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(('127.0.0.1', 0), partial(_Silent, directory=os.fspath(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_url_is_cloned_and_recorded_without_its_password(source: Path, store: Path) -> None:
    git(source, 'update-server-info')
    with served(source) as url:
        clone = obtain_clone(f'{url.replace("//", "//u:secret@")}/.git', store=store, name='a/b')
        again = obtain_clone(f'{url}/.git', store=store, name='a/b')
        assert replace(again, asked_at=clone.asked_at) == clone
        with pytest.raises(Fatal, match='cannot be found'):
            obtain_clone(f'{url}/nothing.git', store=store)
    assert clone.url == f'{url}/.git'
    assert Repository(clone.git_dir).resolve(clone.default_ref) == head(source)
    assert 'secret' not in (clone.git_dir / 'config').read_text()
