"""Start states as commits: what they hold, and that nothing leads from them to the answer."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from coevo.evaluation.assignments import Assignment, Target, TaskAttempt, load_assignments
from coevo.evaluation.cases import RepositoryContext, prepare_case
from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.judging.start_states import (
    StartStateLost,
    StartStates,
    create_fresh_repository,
    restore_start_file,
)
from coevo.evaluation.judging.task_context import GradingCase
from coevo.evaluation.records import Prediction
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository
from coevo.model.task_rows import TaskRow
from tests import snapshots
from tests.repos import commit, commit_tree, git, init, name_submodule, write_object

PATH = 'src/test/java/p/"Ü\tTest".java'
OLD, NEW, LATER = 'class A { /* old */ }\n', 'class A { int gold; }\n', 'class A { int later; }\n'
START = 'class A { /* start */ }\n'
OTHERS = {'pom.xml': '<project/>\n', 'run.sh': '#!/bin/sh\n', 'lines.txt': 'a\r\nb\r\n'}


@dataclass(frozen=True, slots=True)
class World:
    """A repository with a past and a future, and the row of some task."""

    source: Repository
    old: str
    new: str
    row: TaskRow
    target: Target

    def task(self, start: str | bytes | None, new: str | bytes) -> TaskRow:
        raw = start.encode() if isinstance(start, str) else start
        return dataclasses.replace(
            self.row,
            old_rev=self.old,
            new_rev=self.new,
            test_file=PATH,
            start_file_sha256=None if raw is None else hashlib.sha256(raw).hexdigest(),
            test_patch=make_file_patch(PATH, start, new),
        )


@pytest.fixture(scope='module')
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return load_assignments(snapshots.make(tmp_path_factory.mktemp('made'), 1))[0]


@pytest.fixture
def world(drafted: Assignment, tmp_path: Path) -> World:
    folder = init(tmp_path / 'source')
    old = commit(folder, 'old', {PATH: OLD, **OTHERS})
    (folder / 'run.sh').chmod(0o755)
    new = commit(folder, 'new', {PATH: NEW})
    commit(folder, 'later', {PATH: LATER})
    git(folder, 'tag', 'v1')
    return World(Repository(folder / '.git'), old, new, drafted.task, drafted.targets[0])


def test_start_file_is_restored_by_undoing_gold(world: World) -> None:
    assert restore_start_file(world.source, world.task(START, NEW)) == START.encode()
    assert restore_start_file(world.source, world.task(None, NEW)) is None


def test_start_file_with_another_checksum_is_lost(world: World) -> None:
    task = dataclasses.replace(world.task(START, NEW), start_file_sha256='0' * 64)
    with pytest.raises(StartStateLost, match='has the checksum'):
        restore_start_file(world.source, task)
    with pytest.raises(StartStateLost, match='the gold patch cannot be undone'):
        restore_start_file(world.source, world.task(START, 'something else\n'))


def test_clone_that_lacks_a_file_gives_no_repository_trouble(world: World, tmp_path: Path) -> None:
    task = world.task(START, NEW)
    assignment = Assignment(task=task, targets=())
    prediction = Prediction(task_id=task.task_id, patch=task.test_patch.encode())
    shared = RepositoryContext(states=StartStates(world.source, tmp_path))
    attempt = TaskAttempt(assignment=assignment, prediction=prediction)
    assert isinstance(prepare_case(shared, attempt), GradingCase)
    oid = world.source.tree(world.new)[PATH].oid
    (world.source.git_dir / 'objects' / oid[:2] / oid[2:]).unlink()
    again = Repository(world.source.git_dir)
    (tmp_path / 'again').mkdir()
    shared = RepositoryContext(states=StartStates(again, tmp_path / 'again'))
    found = prepare_case(
        shared, replace(attempt, assignment=Assignment(task=task, targets=(world.target,)))
    )
    assert isinstance(found, GradingResult)
    assert [one.trouble.detail for one in found.seen.values() if one.trouble] == ['no_repository']


def test_start_state_is_the_new_revision_with_the_start_file(world: World, tmp_path: Path) -> None:
    states = StartStates(world.source, tmp_path)
    rev = states.commit(world.task(START, NEW), START.encode())
    mine, theirs = states.repository.tree(rev), world.source.tree(world.new)
    assert {path for path in mine if mine[path] != theirs.get(path)} == {PATH}
    assert mine[PATH].mode == theirs[PATH].mode
    assert states.repository.blob(mine[PATH].oid) == START.encode()
    assert states.repository.get_commit(rev).parents == ()
    date = world.source.get_commit(world.new).committer_date
    assert states.repository.get_commit(rev).committer_date == date
    assert states.commit(world.task(START, NEW), START.encode()) == rev


def test_start_state_may_lack_the_test_file(world: World, tmp_path: Path) -> None:
    states = StartStates(world.source, tmp_path)
    rev = states.commit(world.task(None, NEW), None)
    assert set(states.repository.tree(rev)) == set(world.source.tree(world.new)) - {PATH}


def test_a_fresh_repository_has_one_commit_and_nothing_else(world: World, tmp_path: Path) -> None:
    states = StartStates(world.source, tmp_path)
    rev = states.commit(world.task(START, NEW), START.encode())
    folder = tmp_path / 'fresh'
    create_fresh_repository(states.repository, rev, folder)
    assert git(folder, 'log', '--all', '--format=%H %P').split() == [rev]
    assert git(folder, 'status', '--porcelain') == ''
    assert git(folder, 'for-each-ref', '--format=%(refname)') == 'refs/heads/main'
    assert git(folder, 'reflog', '--all') == ''
    assert git(folder, 'stash', 'list') == ''
    assert git(folder, 'fsck', '--unreachable', '--full', '--strict') == ''
    assert (folder / 'lines.txt').read_bytes() == b'a\r\nb\r\n'
    named = git(folder, 'rev-list', '--all', '--objects').splitlines()
    held = git(folder, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)').split()
    assert {line.split()[0] for line in named} == set(held)


def test_edit_of_a_fresh_repository_is_all_that_git_diff_prints(tmp_path: Path) -> None:
    """Whatever attributes say of blobs that are not as they say, and where files are missing."""
    repo = init(tmp_path / 'repo')
    attributes = '*.java text\n*.txt working-tree-encoding=UTF-16LE text\n*.bat eol=crlf\n'
    files = {'.gitattributes': attributes, 'a.txt': 'wide\n'.encode('utf-16-le'), 'b.bat': 'b\n'}
    commit(repo, 'one', files)
    for name, blob in (('Crlf [1]\u00e9.java', b'a\r\nb\r\n'), ('out', b'/etc/passwd')):
        oid = write_object(repo, 'blob', blob)
        mode = '120000' if name == 'out' else '100755'
        git(repo, 'update-index', '--add', '--cacheinfo', f'{mode},{oid},{name}')
    name_submodule(repo, 'lib/other')
    parent = git(repo, 'rev-parse', 'HEAD')
    rev = commit_tree(repo, 'two', git(repo, 'write-tree'), parents=[parent])
    folder = tmp_path / 'fresh'
    create_fresh_repository(Repository(repo / '.git'), rev, folder)
    assert git(folder, 'status', '--porcelain') == ''
    assert (folder / 'Crlf [1]\u00e9.java').read_bytes() == b'a\r\nb\r\n'
    assert (folder / 'a.txt').read_bytes() == 'wide\n'.encode('utf-16-le')
    assert (folder / 'b.bat').read_bytes() == b'b\r\n'
    (folder / 'Crlf [1]\u00e9.java').write_bytes(b'a\r\nc\r\n')
    (folder / 'a.txt').write_bytes('wider\n'.encode('utf-16-le'))
    (folder / 'b.bat').write_bytes(b'c\r\n')
    patch = git(folder, 'diff')
    lines = [
        line for line in patch.splitlines() if line[:1] in '+-' and line[:3] not in ('+++', '---')
    ]
    assert sorted(map(str.strip, lines)) == ['+c', '+c', '+wider', '-b', '-b', '-wide']


def test_file_that_is_to_be_plain_has_the_bytes_of_its_blob(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    rev = commit(
        repo, 'one', {'.gitattributes': '*.bat eol=crlf\n', 'a.bat': 'a\n', 'b.bat': 'b\n'}
    )
    folder = tmp_path / 'fresh'
    create_fresh_repository(Repository(repo / '.git'), rev, folder, plain=('a.bat', 'none'))
    assert (folder / 'a.bat').read_bytes() == b'a\n'
    assert (folder / 'b.bat').read_bytes() == b'b\r\n'
    assert git(folder, 'status', '--porcelain') == ''


def test_no_text_of_gold_is_in_a_fresh_repository(world: World, tmp_path: Path) -> None:
    states = StartStates(world.source, tmp_path)
    rev = states.commit(world.task(START, NEW), START.encode())
    folder = tmp_path / 'fresh'
    create_fresh_repository(states.repository, rev, folder)
    held = git(folder, 'cat-file', '--batch-all-objects', '--batch')
    files = b''.join(path.read_bytes() for path in folder.rglob('*') if path.is_file())
    for text in ('int gold', 'int later'):
        assert text not in held
        assert text.encode() not in files
    assert 'start' in held
    assert not (folder / '.git' / 'objects' / 'info' / 'alternates').exists()
    git(folder, 'rev-parse', '--verify', f'{rev}^{{tree}}')
    with pytest.raises(AssertionError, match='Needed a single revision'):
        git(folder, 'rev-parse', '--verify', f'{world.new}^{{commit}}')
