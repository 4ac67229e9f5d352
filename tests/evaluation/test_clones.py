"""Where the repository of a task comes from: a store, a server, or nowhere."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.git.clones import NoRepository
from coevo.model.errors import Transient
from coevo.model.task_rows import TaskRow
from tests import snapshots
from tests.git_server import GitBackend, serving
from tests.repos import commit, git, init

FILE = 'pom.xml'


@pytest.fixture(scope='module')
def drafted(tmp_path_factory: pytest.TempPathFactory) -> TaskRow:
    return load_assignments(snapshots.make(tmp_path_factory.mktemp('made'), 1))[0].task


@pytest.fixture
def task(drafted: TaskRow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskRow:
    """Of a repository that is served from the folder `served`, nowhere else yet."""
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    folder = init(tmp_path / 'work')
    revs = [commit(folder, f'step {n}', {FILE: f'{n}\n'}) for n in range(4)]
    git(tmp_path, 'clone', '-q', '--bare', str(folder), str(tmp_path / 'served/example/ferry.git'))
    (tmp_path / 'store').mkdir()
    return dataclasses.replace(drafted, old_rev=revs[1], new_rev=revs[2])


def test_clone_in_the_store_is_used(task: TaskRow, tmp_path: Path) -> None:
    clone = tmp_path / 'store' / 'clones' / 'example+ferry.git'
    shutil.copytree(tmp_path / 'served/example/ferry.git', clone)
    with open_task_repository([task], tmp_path / 'store') as found:
        assert found.git_dir == clone
        assert found.load_text(task.new_rev, FILE) == '2\n'


def test_clone_that_was_only_fetched_is_locked_while_it_is_used(
    task: TaskRow, tmp_path: Path
) -> None:
    """Otherwise an eviction could remove it in the middle of an evaluation."""
    clone = tmp_path / 'store' / 'clones' / 'example+ferry.git'
    shutil.copytree(tmp_path / 'served/example/ferry.git', clone)
    clone.with_suffix('.lock').touch()
    with open_task_repository([task], tmp_path / 'store'):
        assert clone.with_suffix('.use').is_file()


def test_clones_of_a_user_are_used_and_nothing_is_written_beside_them(
    task: TaskRow, tmp_path: Path
) -> None:
    clone = tmp_path / 'mine' / 'example' / 'ferry'
    git(tmp_path, 'clone', '-q', str(tmp_path / 'served/example/ferry.git'), str(clone))
    with open_task_repository([task], tmp_path / 'mine') as found:
        assert found.git_dir == clone / '.git'
        assert [*clone.parent.iterdir()] == [clone]


def test_only_the_two_revisions_are_fetched_without_a_store(task: TaskRow, tmp_path: Path) -> None:
    with serving(GitBackend(tmp_path / 'served')) as url:
        there = dataclasses.replace(task, url=f'{url}/example/ferry')
        with open_task_repository([there], None) as found:
            assert [found.load_text(rev, FILE) for rev in (task.old_rev, task.new_rev)] == [
                '1\n',
                '2\n',
            ]
            held = git(found.git_dir, 'cat-file', '--batch-all-objects', '--batch-check')
            assert held.count(' commit ') == 2
    with open_task_repository([there], None) as found:  # the server is gone, the clone is not
        assert found.load_text(task.new_rev, FILE) == '2\n'


def test_clone_is_fetched_anew_if_that_of_the_store_lacks_a_revision(
    task: TaskRow, tmp_path: Path
) -> None:
    git(init(tmp_path / 'store' / 'clones'), 'init', '-q', '--bare', 'example+ferry.git')
    with (
        serving(GitBackend(tmp_path / 'served')) as url,
        open_task_repository(
            [dataclasses.replace(task, url=f'{url}/example/ferry')], tmp_path / 'store'
        ) as found,
    ):
        assert found.git_dir.is_relative_to(tmp_path / 'cache')


def test_vanished_revision_is_a_transient_error(task: TaskRow, tmp_path: Path) -> None:
    with serving(GitBackend(tmp_path / 'served')) as url:
        gone = dataclasses.replace(task, url=f'{url}/example/ferry', new_rev='1' * 40)
        with (
            pytest.raises(Transient, match='could not be fetched, or has no 111111111111'),
            open_task_repository([gone], None),
        ):
            pass


@pytest.mark.parametrize('url', [None, '/etc', 'file:///etc', 'ext::sh -c id', '-u'])
def test_task_without_a_usable_url_has_no_repository(task: TaskRow, url: str | None) -> None:
    nowhere = dataclasses.replace(task, url=url)
    with pytest.raises(NoRepository, match='--clones'), open_task_repository([nowhere], None):
        pass
