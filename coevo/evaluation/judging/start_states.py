"""Start states as commits: everything at the new revision with the start file, and nothing else.

The tree of the new revision contains gold, so it is never built or checked out. Instead, a commit
in a repository of coevo's own is built. That repository borrows the objects of a clone and is never
mounted into a sandbox.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from coevo.evaluation.judging.application import undo_patch
from coevo.evaluation.judging.sibling_files import restore_sibling_files
from coevo.git.patches import quote_path
from coevo.git.process import run_git
from coevo.git.repository import Repository, load_content
from coevo.model.task_rows import TaskRow
from coevo.starts.isolated_cells import Files, add_file

_NOBODY = 'coevo <coevo@localhost>'
_PLAIN_FILE = '100644'


class StartStateLost(ValueError):
    """The start file cannot be made from the snapshot and the clone."""


def restore_start_file(repository: Repository, task: TaskRow) -> bytes | None:
    """Return the test file of the start state (None if absent) by undoing gold's patch.

    Raises: StartStateLost if that fails or the checksum differs.
    """
    new = load_content(repository, task.new_rev, task.test_file)
    try:
        start = undo_patch(task.test_patch, task.test_file, new)
    except ValueError as error:
        raise StartStateLost(f'gold cannot be undone: {error}') from None
    digest = None if start is None else hashlib.sha256(start).hexdigest()
    if digest != task.start_file_sha256:
        raise StartStateLost(f'the start file has the checksum {digest}')
    return start


def collect_start_files(repository: Repository, task: TaskRow, start: bytes | None) -> Files:
    """Return all test files that differ from the new revision; the task's own file is `start`.

    Raises: StartStateLost if the siblings cannot be undone.
    """
    siblings, patch = task.siblings or (), task.sibling_patch or ''
    try:
        others = restore_sibling_files(repository, task.new_rev, task.test_file, siblings, patch)
    except ValueError as error:
        raise StartStateLost(f'siblings cannot be undone: {error}') from None
    return add_file(others, task.test_file, start)


class StartStates:
    """A bare repository with a root commit for each start state; for one thread at a time."""

    def __init__(self, source: Repository, folder: Path) -> None:
        """Create the repository below `folder`, borrowing the objects of `source`."""
        self.source = source
        git_dir = folder / 'start.git'
        run_git(git_dir, 'init', '--quiet', '--bare', '--template=', str(git_dir))
        borrowed = git_dir / 'objects' / 'info' / 'alternates'
        borrowed.parent.mkdir(exist_ok=True)
        borrowed.write_text(f'{(source.git_dir / "objects").absolute()}\n')
        self.repository = Repository(git_dir)

    def commit(self, task: TaskRow, start: bytes | None) -> str:
        """Return the start state of a task as a commit without parents, dated like the new one.

        Raises: StartStateLost if its siblings cannot be undone.
        """
        ref = f'refs/start/{task.task_id}'
        stream = b''.join(self._make_import_stream(ref, task, start))
        self.repository.run_command('fast-import', '--quiet', '--force', stdin=stream)
        return self.repository.run_command('rev-parse', '--verify', ref).decode().strip()

    def _make_import_stream(self, ref: str, task: TaskRow, start: bytes | None) -> Iterator[bytes]:
        header = self.source.header(task.new_rev)
        dates = (header.author_seconds, header.committer_seconds)
        author, committer = (max(0, seconds or 0) for seconds in dates)
        yield (
            f'commit {ref}\nauthor {_NOBODY} {author} +0000\n'
            f'committer {_NOBODY} {committer} +0000\ndata 0\nM 040000 {header.tree} \n'
        ).encode()
        for name, text in collect_start_files(self.source, task, start):
            path = quote_path(name, always=True).encode()
            if text is None:
                yield b'D %b\n' % path
                continue
            entry = self.source.tree(task.new_rev).get(name)
            mode = entry.mode if entry else _PLAIN_FILE
            yield b'M %b inline %b\ndata %d\n%b\n' % (mode.encode(), path, len(text), text)


def create_fresh_repository(repository: Repository, rev: str, folder: Path) -> None:
    """Check a commit out as a repository that has nothing else: no history, no other refs.

    folder  a folder that does not exist yet, at a place where nothing untrusted may have run
    """
    repository.materialise(rev, folder)
    objects = repository.run_command('rev-list', '--objects', '--no-object-names', rev)
    git_dir = folder / '.git'
    run_git(git_dir, 'init', '--quiet', '--template=', '--initial-branch=main', str(folder))
    pack = repository.run_command('pack-objects', '--quiet', '--stdout', stdin=objects)
    run_git(git_dir, 'index-pack', '--stdin', stdin=pack)
    (git_dir / 'refs' / 'heads' / 'main').write_text(f'{rev}\n')
    run_git(git_dir, f'--work-tree={folder}', 'read-tree', 'HEAD')
