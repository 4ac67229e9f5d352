"""Of which methods and tasks strict success can be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.measuring.strict import (
    add_strictness_flags,
    fill_missing_strict_askable,
    is_strict_askable,
)
from coevo.evaluation.outcomes import TaskOutcome
from coevo.model.method_rows import MethodRow
from coevo.model.quality import ReversalRow
from coevo.model.words import Cell, MethodChange, Outcome
from coevo.snapshots.snapshot import attach_snapshots
from packagers.askable import Noticed, add_noticed_changes
from tests import segments, snapshots
from tests.evaluation.rows import ADEQUACY, row

CELLS = {
    Cell.T_OLD_C_OLD: Outcome.PASS,
    Cell.T_OLD_C_NEW: Outcome.FAIL,
    Cell.T_NEW_C_NEW: Outcome.PASS,
}


def gold(*, executed: bool | None = True) -> tuple[MethodRow, ReversalRow]:
    made = segments.method(1, 'sums', MethodChange.CHANGED, CELLS)
    (dependency,) = made.dependencies
    made = replace(made, dependencies=(replace(dependency, executed_new=executed),))
    return made, segments.reversal(made)


def test_strict_success_can_be_asked_where_gold_has_it() -> None:
    made, undone = gold()
    edits = tuple(segments.mutants(made))
    assert is_strict_askable(made, edits, [undone]) is True
    assert is_strict_askable(made, (), ()) is None


@pytest.mark.parametrize('executed', [False, None])
def test_gold_that_is_not_seen_to_execute_the_change_leaves_nothing_to_ask(
    executed: bool | None,
) -> None:
    made, undone = gold(executed=executed)
    assert is_strict_askable(made, tuple(segments.mutants(made)), [undone]) is False


def test_gold_that_never_fails_with_an_edit_leaves_nothing_to_ask() -> None:
    made, undone = gold()
    edits = [replace(one, outcome=Outcome.PASS, killed=False) for one in segments.mutants(made)]
    names = replace(undone, outcome=Outcome.COMPILE_ERROR)
    assert is_strict_askable(made, edits, [names]) is False


def test_task_is_askable_if_all_of_its_methods_are(tmp_path: Path) -> None:
    (assignment,) = load_assignments(snapshots.make(tmp_path, 1))[:1]
    task = replace(assignment.task, strict_askable=None, method_ids=('a', 'b'))
    yes, no, unknown = (Noticed(askable=one, reached=None) for one in (True, False, None))
    first, second, other = ((name, task.walk) for name in ('a', 'b', 'c'))
    assert add_noticed_changes(task, {first: yes, second: yes}).strict_askable is True
    assert add_noticed_changes(task, {first: yes, second: no}).strict_askable is False
    assert add_noticed_changes(task, {first: unknown, second: no}).strict_askable is False
    assert add_noticed_changes(task, {first: yes, other: yes}).strict_askable is None
    assert add_noticed_changes(replace(task, method_ids=()), {}).strict_askable is None


def test_old_snapshots_are_asked_for_the_rows_that_a_release_asks(tmp_path: Path) -> None:
    """Gold of these segments was not traced, so that nothing can be asked of it."""
    place = snapshots.make(tmp_path, 1, 2)
    opened = attach_snapshots((place,))
    sql = f'SELECT DISTINCT strict_askable FROM {opened.rows["methods"]} WHERE task_id IS NOT NULL'
    assert opened.connection.execute(sql).fetchall() == [(False,)]
    assignments = load_assignments(place)
    old = tuple(
        replace(
            one,
            targets=tuple(
                replace(target, row=replace(target.row, strict_askable=None))
                for target in one.targets
            ),
        )
        for one in assignments
    )
    assert fill_missing_strict_askable(opened, old) == assignments


def test_strict_success_is_null_where_it_cannot_be_asked() -> None:
    lost = row(outcome=TaskOutcome.EXEC_FAIL)
    assert add_strictness_flags(lost).success_strict is False
    assert add_strictness_flags(replace(lost, strict_askable=False)).success_strict is None
    assert add_strictness_flags(replace(lost, strict_askable=None)).success_strict is None


def test_copies_and_weakened_neighbours_are_no_strict_success() -> None:
    strict = replace(ADEQUACY, reaches_assertion=True, reversals=ADEQUACY.mutants)
    made = row(adequacy=strict, others_lost=0, others_weakened=0, copies_code=False)
    assert add_strictness_flags(made).success_strict is True
    assert add_strictness_flags(replace(made, others_weakened=1)).success_strict is False
    assert add_strictness_flags(replace(made, copies_code=True)).success_strict is False
    # not measured, as where no adequacy was
    assert add_strictness_flags(replace(made, others_weakened=None)).success_strict is True
