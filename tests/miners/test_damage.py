"""Clones that have lost objects: noticed, made anew, with what only they have if it can be read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from miners.cloning.clones import obtain_clone
from miners.cloning.damage import request_rebuild_for_suspect_commits
from miners.cloning.mirror_git import load_crawl_time, record_clone_refs
from miners.cloning.remotes import protect_commits_from_removal
from tests.miners.hosting import refs
from tests.repos import commit, git, init


@pytest.fixture
def source(tmp_path: Path) -> Path:
    repo = init(tmp_path / 'demo')
    commit(repo, 'first', {'A.java': 'class A {}'})
    commit(repo, 'second', {'A.java': 'class A { int a; }'})
    return repo


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def lose(clone: Path, *revs: str) -> None:
    """Take objects out of a clone."""
    for pack in list(clone.glob('objects/pack/*.pack')):
        content = pack.read_bytes()
        for part in clone.glob(f'objects/pack/{pack.stem}.*'):
            part.unlink()
        subprocess.run(
            ['git', f'--git-dir={clone}', 'unpack-objects', '-q'], input=content, check=True
        )
    for oid in [git(clone, 'rev-parse', rev) for rev in revs]:
        (clone / 'objects' / oid[:2] / oid[2:]).unlink()


def test_clone_that_lost_a_tip_is_rebuilt_with_its_kept_commits(source: Path, store: Path) -> None:
    old = git(source, 'rev-parse', 'HEAD')
    obtain_clone(str(source), store=store)
    commit(
        source,
        'other',
        {'A.java': 'class A { long a; }'},
        parents=[git(source, 'rev-parse', 'HEAD~1')],
    )
    clone = obtain_clone(str(source), store=store)
    record_clone_refs(Repository(clone.git_dir))
    protect_commits_from_removal(clone.git_dir, [git(source, 'rev-parse', 'HEAD~1')])
    before, crawled = refs(clone), load_crawl_time(clone.git_dir)
    lose(clone.git_dir, 'refs/heads/main')
    again = obtain_clone(str(source), store=store)
    assert (refs(again), again.warnings) == (before, ())
    assert f'refs/coevo/kept/{old}' in before
    assert load_crawl_time(clone.git_dir) == crawled
    git(clone.git_dir, 'fsck', '--full', '--strict')
    assert not [path for path in (store / 'clones').iterdir() if path.name.startswith('.')]


def test_kept_commit_that_cannot_be_saved_is_reported_once(source: Path, store: Path) -> None:
    old = git(source, 'rev-parse', 'HEAD')
    obtain_clone(str(source), store=store)
    commit(
        source,
        'other',
        {'A.java': 'class A { long a; }'},
        parents=[git(source, 'rev-parse', 'HEAD~1')],
    )
    clone = obtain_clone(str(source), store=store).git_dir
    lose(clone, old)
    (sentence,) = obtain_clone(str(source), store=store).warnings
    assert old in sentence
    assert f'refs/coevo/kept/{old}' not in refs(clone)
    assert obtain_clone(str(source), store=store).warnings == ()


def test_suspect_commit_causes_one_rebuild_of_the_clone(source: Path, store: Path) -> None:
    clone = obtain_clone(str(source), store=store).git_dir
    first = git(source, 'rev-parse', 'HEAD~1')
    lose(clone, first)
    obtain_clone(str(source), store=store)
    assert not list(clone.glob('objects/pack/*.pack'))  # nobody has looked at it
    assert request_rebuild_for_suspect_commits(clone, [first])
    obtain_clone(str(source), store=store)
    assert Repository(clone).get_commit(first).rev == first
    assert not request_rebuild_for_suspect_commits(clone, [first])


def test_unreadable_refs_are_repaired_and_reported(source: Path, store: Path) -> None:
    clone = obtain_clone(str(source), store=store).git_dir
    (clone / 'packed-refs').write_text('what is this\n')
    commit(source, 'third', {'A.java': 'class A { char a; }'})
    (sentence,) = obtain_clone(str(source), store=store).warnings
    assert 'without what it kept' in sentence
    git(clone, 'fsck', '--full', '--strict')
    assert refs(clone) == {'refs/heads/main': git(source, 'rev-parse', 'HEAD')}
