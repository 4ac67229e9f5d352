"""The gold tests of a task, with their mutants and undone changes, as a snapshot has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import duckdb

from coevo.evaluation.assignments import Assignment, Target
from coevo.model import codec
from coevo.model.errors import Transient
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow, ReversalRow
from coevo.snapshots.snapshot import OpenedSnapshots, summarise_error

Row = TypeVar('Row', MutantRow, ReversalRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldMethod:
    """The gold test of a target; `mutants` and `reversals` are empty if none could be made."""

    target: Target
    mutants: tuple[MutantRow, ...] = ()
    reversals: tuple[ReversalRow, ...] = ()

    @property
    def row(self) -> MethodRow:
        """The row of the gold test in the snapshot."""
        return self.target.row


def load_measured_gold(snapshot: OpenedSnapshots, assignment: Assignment) -> dict[str, GoldMethod]:
    """Return the gold tests by the targets' names; safe from several threads.

    Raises: Transient if they cannot be read.
    """
    mutants = _query_rows(snapshot, 'mutants', MutantRow, assignment)
    reversals = _query_rows(snapshot, 'reversals', ReversalRow, assignment)
    return {
        target.name: GoldMethod(
            target=target,
            mutants=_select_rows(target, mutants),
            reversals=_select_rows(target, reversals),
        )
        for target in assignment.targets
    }


def _select_rows(target: Target, rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if row.method_id == target.row.method_id)


def _query_rows(
    snapshot: OpenedSnapshots, table: str, record: type[Row], assignment: Assignment
) -> tuple[Row, ...]:
    """Return the rows of a table for the task's own pair and walk, sorted.

    Raises: Transient if they cannot be read.
    """
    task = assignment.task
    sql = f'SELECT * FROM {snapshot.rows[table]} WHERE pair_id = ? AND walk = ? ORDER BY ALL'
    try:
        with snapshot.connection.cursor() as own:  # a connection belongs to one thread
            arrow_table = own.sql(sql, params=[task.pair_id, str(task.walk)]).to_arrow_table()
    except duckdb.Error as error:  # the snapshot was verified, so the connection to it has failed
        raise Transient(f"gold's {table} cannot be read: {summarise_error(error)}") from None
    return codec.decode_table(record, arrow_table)
