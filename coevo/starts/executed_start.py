"""Check the start state of a task: its targets must be broken or absent, and kept tests must pass.

The targets of an extension must pass: they are the old tests, which the task extends.

Gold must also pass three times in it. That can fail if siblings were removed from the start state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from coevo.languages.cells import CompiledTests
from coevo.languages.surgery import StartStateInvalid
from coevo.model.quality import VALID, WITHOUT_SIBLINGS
from coevo.model.records import TestMethod
from coevo.starts.isolated_cells import (
    IsolatedCellRunner,
    IsolatedSubject,
    IsolatedTask,
    Verdicts,
    add_file,
    describe_verdict,
    is_pass,
)
from coevo.starts.kept_tests import draw_kept_tests, find_lost_test
from coevo.starts.siblings import SiblingEdits
from coevo.starts.start_files import make_file_at_start


@dataclass(frozen=True, slots=True, kw_only=True)
class StartState:
    """The result of checking a task's start state.

    why          by method id, `valid` or the reason why there is no valid start state
    t_old_c_new  by method id, the verdict on each target as it is at the start; empty for a
                 generation or if there is no start file
    """

    why: Mapping[str, str]
    t_old_c_new: Verdicts = field(default_factory=dict)


def run_start_state(
    runner: IsolatedCellRunner, task: IsolatedTask, around: SiblingEdits
) -> StartState:
    """Check the start state of a task: compile it and run its targets and kept tests there.

    The result says for each target whether the state is valid, else why not. A generation's targets
    are absent at the start, so only tests that the start file keeps are run
    (docs/internals/tasks.md).
    """
    names = list(task.methods)
    try:
        start = make_file_at_start(runner, task, around.here)
    except StartStateInvalid as error:
        return StartState(why=dict.fromkeys(names, str(error)))
    lost = _explain_gold_loss(runner, task, around)
    if task.is_generation:
        reason = lost or _check_kept_siblings(runner, task, start, around)
        return StartState(why=dict.fromkeys(names, reason))
    methods = {subject.method_id: _make_reverted_method(subject) for subject in task.subjects}
    demand = task.demand_at_start
    verdicts = runner.collect_verdicts(_compile_start(runner, task, start, around), methods, demand)
    outcomes = {name: verdict.outcome for name, verdict in verdicts.items()}
    return StartState(
        why={
            name: lost or (VALID if demand(outcome) else f'start_{outcome}')
            for name, outcome in outcomes.items()
        },
        t_old_c_new=verdicts,
    )


def _explain_gold_loss(
    runner: IsolatedCellRunner, task: IsolatedTask, around: SiblingEdits
) -> str | None:
    """Return why the new tests do not pass three times when the siblings are removed.

    None if they do, or if no sibling is removed from another file.
    """
    if not around.files:
        return None  # no sibling is removed, so this is the cell t_new_c_new itself
    new = runner.pair.new.rev
    compiled = runner.compile(new, new, task.module, around.files)
    for name, verdict in runner.run_three_times(compiled, task.methods):
        if not is_pass(verdict.outcome):
            method = task.methods[name].test_method
            return f'{WITHOUT_SIBLINGS}: {method} is {describe_verdict(verdict)}'
    return None


def _make_reverted_method(subject: IsolatedSubject) -> TestMethod:
    """Return the name under which a target stands in the start file: old name, in its new class.

    The parameters are the old ones, too.
    """
    old = subject.old or subject.new
    return replace(subject.new, test_method=old.test_method, parameters=old.parameters)


def _compile_start(
    runner: IsolatedCellRunner, task: IsolatedTask, start: bytes | None, around: SiblingEdits
) -> CompiledTests:
    new = runner.pair.new.rev
    return runner.compile(new, new, task.module, add_file(around.files, task.test_file, start))


def _check_kept_siblings(
    runner: IsolatedCellRunner, task: IsolatedTask, start: bytes | None, around: SiblingEdits
) -> str:
    """Return `valid` if the tests that a start file keeps still pass there, else one that fails.

    A test counts only if it passes in the new file. An absent start file is valid.
    """
    if start is None:
        return VALID
    kept_methods = draw_kept_tests(start, task.module, task.test_file, runner.pair.pair_id)
    new = runner.pair.new.rev
    lost = find_lost_test(
        runner,
        kept_methods,
        at_start=lambda: _compile_start(runner, task, start, around),
        as_gold=lambda: runner.compile(new, new, task.module, around.files),
    )
    return lost or VALID
