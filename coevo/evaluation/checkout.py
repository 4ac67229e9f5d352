"""`coevo checkout`: the start state of a task in a folder, as a repository of one commit."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.judging.start_states import (
    StartStateLost,
    StartStates,
    create_fresh_repository,
    restore_start_file,
)
from coevo.git.clones import NoRepository, open_repository_with_commits
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.task_rows import TaskRow


@contextmanager
def open_task_repository(tasks: Sequence[TaskRow], clones: Path | None) -> Iterator[Repository]:
    """Open the repository of tasks that have the same `repo`, for as long as the context is open.

    clones  a store or a folder with clones, which are used if they have what is needed; nothing is
            fetched into them

    Raises: Transient if it cannot be fetched; NoRepository if there is nowhere to fetch it from.
    """
    first = tasks[0]
    revs = sorted({rev for task in tasks for rev in (task.old_rev, task.new_rev)})
    with open_repository_with_commits(first.repo, first.url, revs, clones) as repository:
        yield repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A start state that was written; `commit` is the same for a task wherever it is made."""

    snapshot: Path | str
    task: TaskRow
    folder: Path
    commit: str

    @property
    def sentences(self) -> Iterator[str]:
        """Sentences for the user: what was written, and how to go on."""
        task, folder = self.task, shlex.quote(str(self.folder))
        snapshot = shlex.quote(str(self.snapshot))
        yield f'{self.folder}: the start state of {task.task_id}, commit {self.commit}'
        kind = task.family if task.asks_for_code else task.track
        yield f'the task ({kind}, {task.repo}): coevo prompt {snapshot} {task.task_id}'
        if task.asks_for_code:
            yield f'the test file to make pass, which stays as it is: {task.test_file}'
        else:
            yield f'the file to change: {task.test_file}'
        if task.environment and task.environment.test_command:
            yield f'to build it, run there: {task.environment.compile_command}'
            yield f'to run its tests, run there: {task.environment.test_command}'
        file, how = shlex.quote(task.test_file), ''
        if task.asks_for_code:
            file, how = '--all', ' --no-renames'
        yield (
            f'when you have changed it: git -C {folder} add {file} && '
            f'git -C {folder} diff --cached{how}'
        )


def check_out(
    place: Path | str, task_id: str, folder: Path, clones: Path | None = None
) -> Checkout:
    """Write the start state of a task into a new folder, completely or not at all.

    place   the snapshot: a folder, a .zip or a URL
    clones  a store or a folder with clones, used if they have what is needed

    Raises: Fatal if the folder exists, if the task is unknown, or if its start state cannot be
    made; Transient if its repository cannot be fetched.
    """
    if folder.exists() or folder.is_symlink():
        raise Fatal(f'{folder} already exists; name a new folder')
    (assignment,) = load_assignments(place, {task_id})
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        commit = _write_start_state(assignment.task, folder.absolute(), clones)
    except NoRepository as error:
        raise Fatal(str(error)) from None
    except StartStateLost as error:
        raise Fatal(
            f'{task_id} has no start state: {error}; get the snapshot or the clone again'
        ) from None
    return Checkout(snapshot=place, task=assignment.task, folder=folder, commit=commit)


def _write_start_state(task: TaskRow, folder: Path, clones: Path | None) -> str:
    with (
        tempfile.TemporaryDirectory(prefix='.coevo-checkout-', dir=folder.parent) as scratch,
        open_task_repository([task], clones) as repository,
    ):
        states = StartStates(repository, Path(scratch) / 'states')
        commit = states.commit(task, restore_start_file(repository, task))
        checkout_folder = Path(scratch) / 'made'
        create_fresh_repository(states.repository, commit, checkout_folder)
        checkout_folder.rename(folder)
    return commit
