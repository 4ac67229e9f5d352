"""Whether the start state of a task is one: its targets broken or absent, its other tests passing.

Gold, put into it, passes three times; where siblings are gone, that is no matter of course.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.languages.cells import Compiled
from coevo.languages.surgery import StartStateInvalid
from coevo.model.quality import VALID
from coevo.model.quality import WITHOUT_SIBLINGS
from coevo.model.records import TestMethod
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.isolated_cells import IsolatedSubject
from coevo.starts.isolated_cells import Task
from coevo.starts.isolated_cells import Verdicts
from coevo.starts.isolated_cells import is_broken
from coevo.starts.isolated_cells import is_pass
from coevo.starts.isolated_cells import said
from coevo.starts.isolated_cells import with_file
from coevo.starts.kept_tests import kept_tests
from coevo.starts.kept_tests import lost_test
from coevo.starts.siblings import SiblingEdits
from coevo.starts.start_files import file_at_start


@dataclass(frozen=True, slots=True, kw_only=True)
class StartState:
    """`why` says of each method that it is `valid`, or why not; `told_cnew` has those reverted."""

    why: Mapping[str, str]
    told_cnew: Verdicts = field(default_factory=dict)


def start_state(runner: IsolatedCellRunner, task: Task, around: SiblingEdits) -> StartState:
    """The start state of a task, compiled and run (docs/tasks.md)."""
    names = list(task.methods)
    try:
        start = file_at_start(runner, task, around.here)
    except StartStateInvalid as error:
        return StartState(why=dict.fromkeys(names, str(error)))
    lost = _gold_lost(runner, task, around)
    if task.is_generation:
        kept = lost or _siblings_verdict(runner, task, start, around)
        return StartState(why=dict.fromkeys(names, kept))
    methods = {subject.method_id: _reverted(subject) for subject in task.subjects}
    told = runner.verdicts(_compiled(runner, task, start, around), methods, is_broken)
    outcomes = {name: verdict.outcome for name, verdict in told.items()}
    return StartState(
        why={
            name: lost or (VALID if it.broken else f'start_{it}') for name, it in outcomes.items()
        },
        told_cnew=told,
    )


def _gold_lost(runner: IsolatedCellRunner, task: Task, around: SiblingEdits) -> str | None:
    """What gold does that does not pass three times without its siblings; None if it does."""
    if not around.files:
        return None  # its own cell is that
    new = runner.pair.new.rev
    compiled = runner.compile(new, new, task.module, around.files)
    for name, verdict in runner.three_times(compiled, task.methods):
        if not is_pass(verdict.outcome):
            method = task.methods[name].test_method
            return f'{WITHOUT_SIBLINGS}: {method} is {said(verdict)}'
    return None


def _reverted(subject: IsolatedSubject) -> TestMethod:
    """A target's identity at the start: its old name and parameters, in its new class."""
    old = subject.old or subject.new
    return replace(subject.new, test_method=old.test_method, parameters=old.parameters)


def _compiled(
    runner: IsolatedCellRunner, task: Task, start: bytes | None, around: SiblingEdits
) -> Compiled:
    new = runner.pair.new.rev
    return runner.compile(new, new, task.module, with_file(around.files, task.test_file, start))


def _siblings_verdict(
    runner: IsolatedCellRunner, task: Task, start: bytes | None, around: SiblingEdits
) -> str:
    """Whether the tests that a start file keeps do what they do in the new file."""
    if start is None:
        return VALID
    kept = kept_tests(start, task.module, task.test_file, runner.pair.pair_id)
    new = runner.pair.new.rev
    lost = lost_test(
        runner,
        kept,
        at_start=lambda: _compiled(runner, task, start, around),
        as_gold=lambda: runner.compile(new, new, task.module, around.files),
    )
    return lost or VALID
