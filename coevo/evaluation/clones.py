"""The repository of tasks, with both revisions of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coevo.git.clones import NoRepository, open_repository_with
from coevo.git.repository import Repository
from coevo.model.task_rows import TaskRow

__all__ = ['NoRepository', 'open_task_repository']


@contextmanager
def open_task_repository(tasks: Sequence[TaskRow], store: Path | None) -> Iterator[Repository]:
    """The repository of some tasks of one `repo`; it stays meanwhile.

    store  whose clones are used where they have what is needed; nothing is fetched into them
    Transient where it could not be fetched, NoRepository where there is nowhere to fetch from.
    """
    first = tasks[0]
    revs = sorted({rev for task in tasks for rev in (task.old_rev, task.new_rev)})
    with open_repository_with(first.repo, first.url, revs, store) as repository:
        yield repository
