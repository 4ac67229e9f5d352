"""What a snapshot says of an earlier one: what is new, what is gone, and what is dated otherwise.

An id names the same task for ever. One whose answer turns out to have been public earlier than was
said is withdrawn and issued anew under its id, with the date that holds now.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model.errors import Damaged
from coevo.model.errors import Fatal
from coevo.model.reasons import Reason
from coevo.model.records import Drop
from coevo.model.records import Stage
from coevo.model.tables import TaskRow
from coevo.model.tables import WithdrawnRow
from coevo.snapshots import snapshot
from coevo.snapshots.locations import files_of
from coevo.storage.place import Root
from coevo.storage.places import place_of
from packagers.rows import Rows

NO_LONGER = 'no_longer_reproduced'
DATED_EARLIER = 'dated_earlier'

_COLUMNS = ('task_id', 'pair_id', 'method_ids', 'contamination_date', 'released')


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier snapshot held, read for what a later one has to say of it."""

    month: str
    tasks: Mapping[str, Mapping[str, Any]]
    methods: frozenset[str]
    withdrawn: tuple[WithdrawnRow, ...]


def read_earlier(path: Root, month: str) -> Earlier:
    """An earlier snapshot; Fatal if it is not of an earlier month than `month`."""
    before = snapshot.manifest(path)['month']
    if before >= month:
        raise Fatal(
            f'{path} is of {before}, which is no earlier month than {month}: name the snapshot '
            'before it as --previous'
        )
    return Earlier(
        month=before,
        tasks={row['task_id']: row for row in _read(path, 'tasks', _COLUMNS)},
        methods=frozenset(row['method_id'] for row in _read(path, 'methods', ('method_id',))),
        withdrawn=tuple(WithdrawnRow(**row) for row in _read(path, 'withdrawn')),
    )


def follow(earlier: Earlier | None, rows: Rows, month: str) -> Rows:
    """The rows with the month in which each task first was released, and with what is withdrawn."""
    if earlier is None:
        return rows.but(tasks=(_released(task, month) for task in rows.tasks))
    carried, gone = _carried(earlier, rows), _gone(earlier, rows, month)
    return rows.but(
        tasks=(_released(task, _first_month(task.task_id, earlier, month)) for task in rows.tasks),
        withdrawn=chain(carried, gone, _changed(earlier, rows, month)),
    )


def _released(task: TaskRow, month: str) -> TaskRow:
    return dataclasses.replace(task, released=month)


def _first_month(task_id: str, earlier: Earlier, month: str) -> str:
    before = earlier.tasks.get(task_id)
    back = min((row.month for row in earlier.withdrawn if row.id == task_id), default=month)
    return (before.get('released') or earlier.month) if before else back


def _carried(earlier: Earlier, rows: Rows) -> Iterator[WithdrawnRow]:
    """A snapshot is whole by itself: it repeats what earlier ones withdrew."""
    now = {task.task_id for task in rows.tasks}
    for row in earlier.withdrawn:
        yield dataclasses.replace(row, reissued=row.id in now)


def _gone(earlier: Earlier, rows: Rows, month: str) -> Iterator[WithdrawnRow]:
    """Tasks, and labels that did not come out again, be they part of a task or not."""
    now = {task.task_id for task in rows.tasks}
    reasons = {drop.key: _reason(drop) for drop in rows.drops if drop.stage is Stage.TASK}
    withheld = {drop.pair_id: drop.reason for drop in rows.drops if drop.stage is Stage.PUBLISH}
    lost = _lost(rows)
    for id_, row in earlier.tasks.items():
        if id_ not in now:
            refuted = next((lost[one] for one in row['method_ids'] if one in lost), None)
            reason = reasons.get(id_) or withheld.get(row['pair_id']) or refuted or NO_LONGER
            yield WithdrawnRow(table='tasks', id=id_, reason=reason, month=month)
    for id_ in lost.keys() & earlier.methods:
        yield WithdrawnRow(table='methods', id=id_, reason=lost[id_], month=month)


def _lost(rows: Rows) -> dict[str, str]:
    """Methods whose label did not come out again, with the reason."""
    return {drop.key: _reason(drop) for drop in rows.drops if drop.reason == Reason.NOT_REPRODUCED}


def _changed(earlier: Earlier, rows: Rows, month: str) -> Iterator[WithdrawnRow]:
    """Tasks that are there again, but were public earlier or have lost some of their tests."""
    lost = _lost(rows)
    for task in rows.tasks:
        before = earlier.tasks.get(task.task_id)
        if before is not None:
            refuted = (lost[one] for one in before['method_ids'] if one in lost)
            reasons = (_redated(before, task), next(refuted, None))
            reason = '; '.join(filter(None, reasons))
            if reason:
                yield WithdrawnRow(
                    table='tasks', id=task.task_id, reason=reason, month=month, reissued=True
                )


def _redated(before: Mapping[str, Any], task: TaskRow) -> str | None:
    if not _leaked(before['contamination_date'], task.contamination_date):
        return None
    was, now = (
        f'{date:%Y-%m-%d}' if date else 'unknown'
        for date in (before['contamination_date'], task.contamination_date)
    )
    return f'{DATED_EARLIER}: {now}, not {was}'


def _leaked(before: datetime | None, now: datetime | None) -> bool:
    """Whether some cutoff called clean then what it does not call clean now."""
    return before is not None and (now is None or now < before)


def _reason(drop: Drop) -> str:
    return f'{drop.reason}: {drop.detail}' if drop.detail else drop.reason


def _read(root: Root, table: str, columns: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Rows as dicts, without columns that an older schema lacked."""
    rows: list[dict[str, Any]] = []
    for file in _files(root, table):
        with pq.ParquetFile(file) as parquet:
            there = parquet.schema_arrow.names
            wanted = [name for name in there if columns is None or name in columns]
            rows += parquet.read(columns=wanted).to_pylist()
    return rows


def _files(root: Root, table: str) -> Iterator[Path | pa.BufferReader]:
    if isinstance(root, Path):
        yield from snapshot.data_files(root, table)
        return
    place = place_of(root)
    for name in files_of(table, snapshot.manifest(root)['files']):
        found = place.read(name)
        if found is None:
            raise Damaged(f'{place.shown(name)} is missing: get the snapshot again')
        yield pa.BufferReader(found.data)
