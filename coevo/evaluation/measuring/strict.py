"""Strict success: the flags of a graded method, and the tasks of which strict success can be asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import duckdb

from coevo.evaluation.assignments import Assignment, Target
from coevo.evaluation.measuring.adequacy import count_mutant_kills, count_noticed_undos
from coevo.evaluation.measuring.coverage import is_any_executed
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.worth import Adequacy, Detections
from coevo.model import codec
from coevo.model.errors import Transient
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow, Mutation, ReversalRow
from coevo.model.words import Outcome
from coevo.snapshots.snapshot import OpenedSnapshots, summarise_error

# Flags that follow from the outcome and adequacy of a method, beyond the paper's own outcomes.

_FAILED_BY_RUNNING = (Outcome.FAIL, Outcome.ERROR)


def add_strictness_flags(row: MethodResult) -> MethodResult:
    """Return the row with `success_strict`, `vacuous` and `oracle_preserved`.

    They follow from its outcome and its adequacy. Strict success is unknown, also of a test that
    fails, where it cannot be asked: gold itself lacks it there.
    """
    return replace(
        row,
        success_strict=_decide_strict(row),
        vacuous=is_vacuous(row.outcome, row.adequacy, row.old),
        oracle_preserved=preserves_oracle(row.adequacy),
    )


def _decide_strict(row: MethodResult) -> bool | None:
    if not row.strict_askable:
        return None
    harmed = (row.others_lost or 0) + (row.others_weakened or 0)
    if row.outcome is TaskOutcome.SUCCESS and row.copies_code:
        return False
    return is_strict_success(
        row.outcome,
        row.adequacy,
        row.mutation_gold,
        None if row.others_lost is None else harmed,
    )


def decide_task_strict(rows: Sequence[MethodResult]) -> bool | None:
    """Return whether all targets of a task are strict successes; None if that is unknown.

    It is unknown of a task with a target of which it cannot be asked, whatever the others do.
    """
    if not all(row.strict_askable for row in rows):
        return None
    return _all_hold(*(row.success_strict for row in rows))


def is_strict_success(
    outcome: TaskOutcome,
    adequacy: Adequacy | None,
    gold: Mutation | None,
    others_lost: int | None,
) -> bool | None:
    """Return whether a test succeeds and demonstrably checks the change; None if that is unknown.

    All of these must hold: it executes a changed dependency and reaches an assertion. It runs and
    fails with at least one change undone with which gold runs and fails, if there is one. It kills
    at least one mutant that gold kills, if gold kills any. Its patch breaks no neighbour. A mere
    compile error shows only which names the test uses; if gold runs and fails with a mutant, the
    test must do so with one as well.

    It is None for trouble of coevo's own, or if gold ran and failed with no edit at all.
    """
    if outcome is TaskOutcome.INFRA:
        return None
    if outcome is not TaskOutcome.SUCCESS:
        return False
    nothing_lost = None if others_lost is None else not others_lost
    if adequacy is None:
        return _all_hold(nothing_lost, None)
    executes = adequacy.executes_delta, adequacy.reaches_assertion, nothing_lost
    if adequacy.mutants is None and gold is not None and gold.killed:
        return _all_hold(
            *executes, _notices_any_that_gold_notices(adequacy.reversals), None
        )  # kills were not measured
    answers = (
        _notices_any_that_gold_notices(adequacy.reversals),
        _notices_any_that_gold_notices(adequacy.mutants),
    )
    known = tuple(answer for answer in answers if answer is not None)
    return _all_hold(*executes, *known) if known else _all_hold(*executes, None)


def _notices_any_that_gold_notices(found: Detections | None) -> bool | None:
    """Return whether the test notices an edit that gold notices by running.

    None if gold ran and failed with none of them: it may notice names, by not compiling. Where that
    is not known, all that gold notices counts.
    """
    if found is None:
        return None
    noticed_by_gold, noticed_by_both = (
        (found.gold, found.both) if found.gold_ran is None else (found.gold_ran, found.both_ran)
    )
    return bool(noticed_by_both) if noticed_by_gold else None


def is_vacuous(
    outcome: TaskOutcome, adequacy: Adequacy | None, old: Outcome | None = None
) -> bool | None:
    """Return whether a test that passes on the new code cannot check the change.

    It is vacuous if it executes no changed dependency or reaches no assertion. A test that runs and
    fails on the old code depends on the change, even if it executes no dependency: a changed table,
    for example, is none. None if it does not pass, or if that is unknown.

    old  its outcome on the old code; None if it did not run there
    """
    if not outcome.passes_on_new or adequacy is None:
        return None
    depends = True if old in _FAILED_BY_RUNNING else adequacy.executes_delta
    says_something = _all_hold(depends, adequacy.reaches_assertion)
    return None if says_something is None else not says_something


def preserves_oracle(adequacy: Adequacy | None) -> bool | None:
    """Return whether an update or extension still kills all that the old test killed.

    None if the old test killed nothing, or if that was not measured.
    """
    oracle = adequacy.oracle if adequacy is not None else None
    return None if oracle is None or not oracle.count else not oracle.lost


def _all_hold(*conditions: bool | None) -> bool | None:
    """Return the conjunction of the conditions; False outweighs None (unknown)."""
    if False in conditions:
        return False
    return None if None in conditions else True


# Decide whether strict success can be asked of a task: only where gold itself has it.
#
# That is fixed when a snapshot is released, by the one run of gold with mutants and undone changes
# (`coevo.model.segment`). So the rate of every submission is over the same methods. Snapshots from
# before the column are asked for the same rows when they are read.

Row = TypeVar('Row', MutantRow, ReversalRow)


def is_strict_askable(
    row: MethodRow, mutants: Sequence[MutantRow], reversals: Sequence[ReversalRow]
) -> bool | None:
    """Return whether a gold test is a strict success by its own mutants and undone changes.

    None if it was run with neither. Mining does not watch its assertions: they count as reached.
    """
    if not mutants and not reversals:
        return None
    gold = GoldMethod(
        target=Target(name='', row=row), mutants=tuple(mutants), reversals=tuple(reversals)
    )
    worth = Adequacy(
        executes_delta=is_any_executed(row.dependencies),
        reaches_assertion=True,
        mutants=count_mutant_kills(gold, mutants),
        reversals=count_noticed_undos(gold, reversals),
    )
    return is_strict_success(TaskOutcome.SUCCESS, worth, row.mutation, 0) is True


def fill_missing_strict_askable(
    opened: OpenedSnapshots, assignments: Iterable[Assignment]
) -> tuple[Assignment, ...]:
    """Return the tasks with `strict_askable` of their targets, where an old snapshot lacks it.

    Raises: Transient if the snapshot cannot be read.
    """
    wanted = tuple(assignments)
    lacking = [task for task in wanted if any(map(_lacks_strict_askable, task.targets))]
    if not lacking:
        return wanted
    mutants = _load_rows_by_method_and_walk(opened, 'mutants', MutantRow, lacking)
    reversals = _load_rows_by_method_and_walk(opened, 'reversals', ReversalRow, lacking)

    def fill_target(target: Target) -> Target:
        """Return a target with the answer, if it lacks one."""
        if not _lacks_strict_askable(target):
            return target
        key = target.row.method_id, str(target.row.walk)
        answer = is_strict_askable(target.row, mutants[key], reversals[key])
        return replace(target, row=replace(target.row, strict_askable=answer))

    return tuple(replace(task, targets=tuple(map(fill_target, task.targets))) for task in wanted)


def _lacks_strict_askable(target: Target) -> bool:
    return target.row.strict_askable is None


def _load_rows_by_method_and_walk(
    opened: OpenedSnapshots, table: str, record: type[Row], assignments: Iterable[Assignment]
) -> dict[tuple[str, str], list[Row]]:
    """Return the rows of a table for the targets of tasks, by method id and walk."""
    ids = sorted({target.row.method_id for task in assignments for target in task.targets})
    sql = f'SELECT * FROM {opened.rows[table]} WHERE list_contains(?, method_id) ORDER BY ALL'
    try:
        with opened.connection.cursor() as own:
            arrow_table = own.sql(sql, params=[ids]).to_arrow_table()
    except duckdb.Error as error:
        raise Transient(f"gold's {table} cannot be read: {summarise_error(error)}") from None
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in codec.decode_table(record, arrow_table):
        rows[row.method_id, str(row.walk)].append(row)
    return rows
