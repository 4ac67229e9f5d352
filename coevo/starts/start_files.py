"""The start file of a task while its pair is mined, of both revisions' contents."""

from __future__ import annotations

from collections.abc import Collection

from coevo.git.contents import content
from coevo.git.contents import path_at_old
from coevo.languages.surgery import Original
from coevo.languages.surgery import StartTarget
from coevo.languages.table import surgery
from coevo.model.records import TestMethod
from coevo.model.words import Track
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import IsolatedSubject
from coevo.starts.isolated_cells import Task


def file_at_start(
    runner: IsolatedCellRunner, task: Task, also: Collection[TestMethod] = ()
) -> bytes | None:
    """The test file with its targets reverted or removed; None where it is absent.

    also  tests of the file that are removed beside them
    StartStateInvalid where there is none.
    """
    repository, old, new = runner.repository, runner.pair.old.rev, runner.pair.new.rev
    before = path_at_old(repository, old, new, task.test_file)
    own = [_target(runner, subject) for subject in task.subjects]
    cut = surgery(runner.pair.language)
    return cut.start_file(
        task.source(runner),
        None if before is None else content(repository, old, before),
        [*own, *(StartTarget(method=method) for method in also)],
        used_elsewhere=cut.names_used_elsewhere(repository, new, task.test_file),
    )


def _target(runner: IsolatedCellRunner, subject: IsolatedSubject) -> StartTarget:
    if subject.track is Track.GENERATION or subject.old is None:
        return StartTarget(method=subject.new)
    source = content(runner.repository, runner.pair.old.rev, subject.old.test_file)
    assert source is not None, 'what was changed stands in a file of the old revision'
    return StartTarget(method=subject.new, original=Original(method=subject.old, source=source))
