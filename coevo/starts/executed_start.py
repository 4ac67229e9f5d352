"""Check the start state of a task: its targets must be broken or absent, and the tests that stay
must still pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import Member
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import detect_file_language, get_surgery
from coevo.model.quality import VALID, WITHOUT_SIBLINGS
from coevo.model.records import TestMethod, compute_short_hash
from coevo.starts.isolated_cells import (
    IsolatedCellRunner,
    IsolatedSubject,
    IsolatedTask,
    Verdicts,
    add_file,
    describe_verdict,
    is_pass,
)
from coevo.starts.siblings import SiblingEdits, make_file_at_start

# At most this many of the tests that a start file keeps are checked.
MOST_KEPT = 10

Compile = Callable[[], CompiledTests]


def draw_kept_tests(
    start: bytes, module: str, test_file: str, pair_id: str
) -> dict[str, TestMethod]:
    """Return up to `MOST_KEPT` tests of a start file by name, in the file's order.

    The choice is random, but always the same for a pair and test file.
    """
    tests = get_surgery(detect_file_language(test_file)).list_other_tests(start, [], test_file)
    members = ((test_file, member) for member in tests)
    return draw_tests(members, module, MOST_KEPT, pair_id, test_file)


def draw_tests(
    members: Iterable[tuple[str, Member]], module: str, most: int, *seed: str
) -> dict[str, TestMethod]:
    """Return up to `most` tests by name, in the order of `members`; the choice is random.

    members  test members, each with the path of its file
    seed     the same words always give the same choice
    """
    by_name = {
        f'{member.owner}#{member.name}({",".join(member.parameters)})': TestMethod(
            module=module,
            test_file=path,
            test_class=member.owner,
            test_method=member.name,
            parameters=member.parameters,
        )
        for path, member in members
    }
    chosen = set(sorted(by_name, key=lambda name: compute_short_hash(*seed, name))[:most])
    return {name: method for name, method in by_name.items() if name in chosen}


def find_broken_kept_test(
    runner: IsolatedCellRunner, kept: Mapping[str, TestMethod], at_start: Compile, as_gold: Compile
) -> str | None:
    """Return the first kept test that passes in gold's file but not in the start file.

    The text names the test and its outcome at the start. None if there is no such test.

    at_start  compiles the start file
    as_gold   compiles gold's file; called only if a kept test does not pass at the start
    """
    if not kept:
        return None
    now = runner.collect_verdicts_rerunning_undemanded(at_start(), kept, is_pass)
    suspects = {name: method for name, method in kept.items() if not is_pass(now[name].outcome)}
    if not suspects:
        return None
    before = runner.collect_verdicts_rerunning_undemanded(as_gold(), suspects, is_pass)
    lost = [name for name in suspects if is_pass(before[name].outcome)]
    return f'sibling {lost[0]}: {describe_verdict(now[lost[0]])}' if lost else None


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
    lost = _explain_failure_without_siblings(runner, task, around)
    if task.is_generation:
        reason = lost or _name_failing_sibling_or_valid(runner, task, start, around)
        return StartState(why=dict.fromkeys(names, reason))
    methods = {subject.method_id: _make_reverted_method(subject) for subject in task.subjects}
    demand = task.demand_at_start
    verdicts = runner.collect_verdicts_rerunning_undemanded(
        _compile_start(runner, task, start, around), methods, demand
    )
    outcomes = {name: verdict.outcome for name, verdict in verdicts.items()}
    return StartState(
        why={
            name: lost or (VALID if demand(outcome) else f'start_{outcome}')
            for name, outcome in outcomes.items()
        },
        t_old_c_new=verdicts,
    )


def _explain_failure_without_siblings(
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


def _name_failing_sibling_or_valid(
    runner: IsolatedCellRunner, task: IsolatedTask, start: bytes | None, around: SiblingEdits
) -> str:
    """Return `valid` if the tests that a start file keeps still pass there, else one that fails.

    A test counts only if it passes in the new file. An absent start file is valid.
    """
    if start is None:
        return VALID
    kept_methods = draw_kept_tests(start, task.module, task.test_file, runner.pair.pair_id)
    new = runner.pair.new.rev
    lost = find_broken_kept_test(
        runner,
        kept_methods,
        at_start=lambda: _compile_start(runner, task, start, around),
        as_gold=lambda: runner.compile(new, new, task.module, around.files),
    )
    return lost or VALID
