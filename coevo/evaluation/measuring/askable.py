"""Decide whether strict success can be asked of a task: only where gold itself has it.

That is fixed when a snapshot is released, by the one run of gold with mutants and undone changes
(`coevo.model.segment`). So the rate of every submission is over the same methods.
Snapshots from before the column are asked for the same rows when they are read.
"""

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
from coevo.evaluation.measuring.strict import is_strict_success
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.worth import Adequacy
from coevo.model import codec
from coevo.model.errors import Transient
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow, ReversalRow
from coevo.snapshots.snapshot import OpenedSnapshots, summarise_error

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
