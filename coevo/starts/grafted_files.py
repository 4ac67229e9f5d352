"""The old tree's files with the targets of a task in them."""

from __future__ import annotations

from coevo.git.contents import content
from coevo.git.contents import path_at_old
from coevo.languages.surgery import Graft
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import surgery
from coevo.starts.isolated_cells import Files
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import IsolatedSubject
from coevo.starts.isolated_cells import Task


def grafted(runner: IsolatedCellRunner, task: Task) -> tuple[Files, str]:
    """The old file with the targets of the new one; else the new file as a whole, and why."""
    repository, old = runner.repository, runner.pair.old.rev
    before = content(repository, old, task.test_file)
    if before is None:
        return whole_file(runner, task), ''
    cut = surgery(runner.pair.language)
    try:
        text = cut.transplant(
            before,
            task.source(runner),
            [_graft(subject) for subject in task.subjects],
            used_elsewhere=cut.names_used_elsewhere(repository, old, task.test_file),
        )
    except StartStateInvalid as error:
        return whole_file(runner, task), f'whole file: {error}'
    return ((task.test_file, text),), ''


def _graft(subject: IsolatedSubject) -> Graft:
    old = subject.old
    here = old is not None and old.test_file == subject.new.test_file
    return Graft(new=subject.new, old=old if here else None)


def whole_file(runner: IsolatedCellRunner, task: Task) -> Files:
    """The new file as it is, and those gone from which it or its targets have moved."""
    repository, old, new = runner.repository, runner.pair.old.rev, runner.pair.new.rev
    left = {path_at_old(repository, old, new, task.test_file)}
    left |= {subject.old.test_file for subject in task.subjects if subject.old is not None}
    there = repository.tree(new)
    gone = [(path, None) for path in left if path is not None and path not in there]
    return tuple(sorted([*gone, (task.test_file, task.source(runner))], key=lambda f: f[0]))
