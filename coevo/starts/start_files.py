"""Make the start file of a task while its pair is mined, from the files of both revisions."""

from __future__ import annotations

from collections.abc import Collection

from coevo.git.repository import find_old_path, load_content
from coevo.languages.surgery import OriginalTest, StartTarget
from coevo.languages.table import get_surgery
from coevo.model.records import TestMethod
from coevo.model.words import Track
from coevo.starts.isolated_cells import IsolatedCellRunner, IsolatedSubject, IsolatedTask


def make_file_at_start(
    runner: IsolatedCellRunner, task: IsolatedTask, also: Collection[TestMethod] = ()
) -> bytes | None:
    """Return the test file with its targets reverted or removed; None if it is absent at the start.

    also  further tests of the file to remove

    Raises: StartStateInvalid if no start file can be made.
    """
    repository, old, new = runner.repository, runner.pair.old.rev, runner.pair.new.rev
    before = find_old_path(repository, old, new, task.test_file)
    own = [_make_target(runner, subject) for subject in task.subjects]
    cut = get_surgery(runner.pair.language)
    return cut.make_start_file(
        task.load_new_test_file(runner),
        None if before is None else load_content(repository, old, before),
        [*own, *(StartTarget(method=method) for method in also)],
        used_elsewhere=cut.list_names_used_elsewhere(repository, new, task.test_file),
    )


def _make_target(runner: IsolatedCellRunner, subject: IsolatedSubject) -> StartTarget:
    if subject.track is Track.GENERATION or subject.old is None:
        return StartTarget(method=subject.new)
    source = load_content(runner.repository, runner.pair.old.rev, subject.old.test_file)
    assert source is not None, 'what was changed stands in a file of the old revision'
    return StartTarget(method=subject.new, original=OriginalTest(method=subject.old, source=source))
