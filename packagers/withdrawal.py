"""What an earlier snapshot had and this one has not, with the reason."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from coevo import snapshot
from coevo.records import Drop
from coevo.records import Stage
from coevo.tables import WithdrawnRow
from packagers.rows import Rows
from packagers.rows import ordered

NO_LONGER = 'no_longer_reproduced'


def withdraw(previous: Path, rows: Rows, month: str) -> tuple[WithdrawnRow, ...]:
    """The tasks that are gone since `previous`, and what it had withdrawn itself."""
    snapshot.manifest(previous)
    now = {task.task_id for task in rows.tasks}
    before = [WithdrawnRow(**row) for row in _read(previous, 'withdrawn')]
    carried = [row for row in before if row.id not in now]
    known = {row.id for row in carried}
    gone = {
        row['task_id']: row['pair_id']
        for row in _read(previous, 'tasks', 'task_id', 'pair_id')
        if row['task_id'] not in now | known
    }
    reasons = {drop.key: _reason(drop) for drop in rows.drops if drop.stage is Stage.TASK}
    withheld = {drop.pair_id: drop.reason for drop in rows.drops if drop.stage is Stage.PUBLISH}
    new = (
        WithdrawnRow(
            table='tasks',
            id=id_,
            reason=reasons.get(id_) or withheld.get(pair_id) or NO_LONGER,
            month=month,
        )
        for id_, pair_id in gone.items()
    )
    return ordered('withdrawn', (*carried, *new))


def _reason(drop: Drop) -> str:
    return f'{drop.reason}: {drop.detail}' if drop.detail else drop.reason


def _read(path: Path, table: str, *columns: str) -> list[dict[str, str]]:
    files = snapshot.data_files(path, table)
    rows: list[dict[str, str]] = []
    for file in files:
        rows += pq.read_table(file, columns=list(columns) or None).to_pylist()
    return rows
