"""Access to the repository of tasks, with both revisions of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coevo.git.clones import NoRepository, open_repository_with
from coevo.git.repository import Repository
from coevo.model.task_rows import TaskRow

__all__ = ['NoRepository', 'open_task_repository']


@contextmanager
def open_task_repository(tasks: Sequence[TaskRow], clones: Path | None) -> Iterator[Repository]:
    """Open the repository of tasks that have the same `repo`, for as long as the context is open.

    clones  a store or a folder with clones, which are used if they have what is needed; nothing is
            fetched into them

    Raises: Transient if it cannot be fetched; NoRepository if there is nowhere to fetch it from.
    """
    first = tasks[0]
    revs = sorted({rev for task in tasks for rev in (task.old_rev, task.new_rev)})
    with open_repository_with(first.repo, first.url, revs, clones) as repository:
        yield repository
