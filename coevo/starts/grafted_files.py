"""The old tree's files with the targets of a task in them."""

from __future__ import annotations

from coevo.git.contents import find_old_path, load_content
from coevo.languages.surgery import Graft, StartStateInvalid
from coevo.languages.table import get_surgery
from coevo.starts.isolated_cells import Files, IsolatedCellRunner, IsolatedSubject, IsolatedTask


def graft_targets(runner: IsolatedCellRunner, task: IsolatedTask) -> tuple[Files, str]:
    """The old file with the targets of the new one; else the new file as a whole, and why."""
    repository, old = runner.repository, runner.pair.old.rev
    before = load_content(repository, old, task.test_file)
    if before is None:
        return make_whole_file(runner, task), ''
    cut = get_surgery(runner.pair.language)
    try:
        text = cut.transplant_tests(
            before,
            task.load_source(runner),
            [_make_graft(subject) for subject in task.subjects],
            used_elsewhere=cut.list_names_used_elsewhere(repository, old, task.test_file),
        )
    except StartStateInvalid as error:
        return make_whole_file(runner, task), f'whole file: {error}'
    return ((task.test_file, text),), ''


def _make_graft(subject: IsolatedSubject) -> Graft:
    old = subject.old
    here = old is not None and old.test_file == subject.new.test_file
    return Graft(new=subject.new, old=old if here else None)


def make_whole_file(runner: IsolatedCellRunner, task: IsolatedTask) -> Files:
    """The new file as it is, and those gone from which it or its targets have moved."""
    repository, old, new = runner.repository, runner.pair.old.rev, runner.pair.new.rev
    left = {find_old_path(repository, old, new, task.test_file)}
    left |= {subject.old.test_file for subject in task.subjects if subject.old is not None}
    there = repository.tree(new)
    removed = [(path, None) for path in left if path is not None and path not in there]
    return tuple(sorted([*removed, (task.test_file, task.load_source(runner))], key=lambda f: f[0]))
