"""Compare a snapshot with an earlier one: which tasks are new, gone, or dated differently.

An id names the same task for ever. A task whose answer turns out to have been public earlier than
stated is withdrawn and issued again under its id, with the correct date.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.reasons import Reason
from coevo.model.records import Drop
from coevo.model.task_rows import TaskRow, WithdrawnRow
from coevo.model.words import Stage
from coevo.prompts import add_canary
from coevo.snapshots import snapshot
from coevo.snapshots.locations import select_table_files
from coevo.snapshots.table_files import iterate_rows
from coevo.storage.place import Root
from coevo.storage.places import open_place
from packagers.row_files import Sorter
from packagers.rows import Rows

NO_LONGER = 'no_longer_reproduced'
DATED_EARLIER = 'dated_earlier'


@dataclass(frozen=True, slots=True, kw_only=True)
class _EarlierTask:
    """A task of an earlier snapshot, reduced to what a comparison needs."""

    task_id: str
    repo: str
    pair_id: str
    method_ids: tuple[str, ...]
    contamination_date: datetime | None
    released: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierSnapshot:
    """The content of an earlier snapshot; `tasks` are in the order of their table."""

    root: Root
    month: str
    tasks: Sequence[_EarlierTask]
    withdrawn: tuple[WithdrawnRow, ...]


def load_earlier_snapshot(path: Root, month: str, space: Path | None = None) -> EarlierSnapshot:
    """Return the tasks and withdrawals of an earlier snapshot.

    Raises: Fatal if its month is not earlier than `month`.
    """
    before = snapshot.load_manifest(path)['month']
    if before >= month:
        raise Fatal(
            f'{path} is of {before}, which is no earlier month than {month}: name the snapshot '
            'before it as --previous'
        )
    tasks = Sorter(_EarlierTask, space)
    for row in _load_rows(
        path, 'tasks', tuple(item.name for item in dataclasses.fields(_EarlierTask))
    ):
        task = _EarlierTask(**row | {'method_ids': tuple(row['method_ids'])})
        tasks.add((task.repo, task.task_id), task)
    return EarlierSnapshot(
        root=path,
        month=before,
        tasks=tasks.finish(),
        withdrawn=tuple(WithdrawnRow(**row) for row in _load_rows(path, 'withdrawn')),
    )


def apply_earlier_snapshot(earlier: EarlierSnapshot | None, rows: Rows, month: str) -> Rows:
    """Return the rows with the month of each task's first release, and with withdrawn tasks.

    Without an earlier snapshot all tasks are of this month, and none is withdrawn.
    """
    if earlier is None:
        return rows.replace_tables(tasks=(_set_release_month(task, month) for task in rows.tasks))
    carried, newly_withdrawn = (
        _carry_withdrawals(earlier, rows),
        _withdraw_missing(earlier, rows, month),
    )
    return rows.replace_tables(
        tasks=_set_release_months(earlier, rows, month),
        withdrawn=chain(carried, newly_withdrawn, _withdraw_changed(earlier, rows, month)),
    )


def align_tasks(
    earlier: EarlierSnapshot | None, rows: Rows
) -> Iterator[tuple[_EarlierTask | None, TaskRow | None]]:
    """Yield each task of both snapshots, matched by repository and id.

    None stands for a task that one of the snapshots lacks.
    """
    old, new = iter(earlier.tasks if earlier else ()), iter(rows.tasks)
    before, task = next(old, None), next(new, None)
    while before is not None or task is not None:
        there = (
            before
            if task is None or (before and _get_sort_key(before) <= _get_sort_key(task))
            else None
        )
        here = (
            task
            if before is None or (task and _get_sort_key(task) <= _get_sort_key(before))
            else None
        )
        yield there, here
        before = next(old, None) if there else before
        task = next(new, None) if here else task


def _get_sort_key(task: _EarlierTask | TaskRow) -> tuple[str, str]:
    return task.repo, task.task_id


def _set_release_months(earlier: EarlierSnapshot, rows: Rows, month: str) -> Iterator[TaskRow]:
    """Yield the tasks with the month of their first release.

    A task that was withdrawn and is back counts from the month of its first withdrawal.
    """
    back: dict[str, str] = {}
    for row in earlier.withdrawn:
        back[row.id] = min(row.month, back.get(row.id, month))
    for before, task in align_tasks(earlier, rows):
        if task is not None:
            again = back.get(task.task_id, month)
            yield _set_release_month(task, (before.released or earlier.month) if before else again)


def _set_release_month(task: TaskRow, month: str) -> TaskRow:
    """Return a task with its month, and with the canary of that month in its prompt."""
    prompt = None if task.prompt is None else add_canary(task.prompt, month)
    return dataclasses.replace(task, released=month, prompt=prompt)


def _carry_withdrawals(earlier: EarlierSnapshot, rows: Rows) -> Iterator[WithdrawnRow]:
    """Yield the withdrawals of earlier snapshots again, so that each snapshot is complete.

    `reissued` says whether the present snapshot has the task.
    """
    known = {row.id for row in earlier.withdrawn}
    now = {task.task_id for task in rows.tasks if task.task_id in known}
    for row in earlier.withdrawn:
        yield dataclasses.replace(row, reissued=row.id in now)


def _withdraw_missing(earlier: EarlierSnapshot, rows: Rows, month: str) -> Iterator[WithdrawnRow]:
    """Yield a withdrawal for each task that this snapshot lacks, with the reason.

    Also for each label that was not reproduced, in a task or not.
    """
    reasons = {drop.key: _format_reason(drop) for drop in rows.drops if drop.stage is Stage.TASK}
    taken_back = {item.id: item.reason for item in rows.withdrawals}
    withheld = {drop.pair_id: drop.reason for drop in rows.drops if drop.stage is Stage.PUBLISH}
    lost = _find_lost_labels(rows)
    for before, task in align_tasks(earlier, rows):
        if before is not None and task is None:
            id_ = before.task_id
            refuted = next((lost[item] for item in before.method_ids if item in lost), None)
            withdrawal_reason = taken_back.get(before.repo) or taken_back.get(before.pair_id)
            by_hand = f'{Reason.WITHDRAWN}: {withdrawal_reason}' if withdrawal_reason else None
            reason = (
                by_hand or reasons.get(id_) or withheld.get(before.pair_id) or refuted or NO_LONGER
            )
            yield WithdrawnRow(table='tasks', id=id_, reason=reason, month=month)
    methods = (row['method_id'] for row in _load_rows(earlier.root, 'methods', ('method_id',)))
    for id_ in {id_ for id_ in methods if id_ in lost} if lost else ():
        yield WithdrawnRow(table='methods', id=id_, reason=lost[id_], month=month)


def _find_lost_labels(rows: Rows) -> dict[str, str]:
    """Return the reason for each method whose label was not reproduced, by method id."""
    return {
        drop.key: _format_reason(drop)
        for drop in rows.drops
        if drop.reason == Reason.NOT_REPRODUCED
    }


def _withdraw_changed(earlier: EarlierSnapshot, rows: Rows, month: str) -> Iterator[WithdrawnRow]:
    """Yield a withdrawal for each task that is still there but changed.

    It was public earlier than stated, or lost some of its tests.
    """
    lost = _find_lost_labels(rows)
    for before, task in align_tasks(earlier, rows):
        if before is not None and task is not None:
            refuted = (lost[method_id] for method_id in before.method_ids if method_id in lost)
            reasons = (_explain_redating(before, task), next(refuted, None))
            reason = '; '.join(filter(None, reasons))
            if reason:
                yield WithdrawnRow(
                    table='tasks', id=task.task_id, reason=reason, month=month, reissued=True
                )


def _explain_redating(before: _EarlierTask, task: TaskRow) -> str | None:
    dates = before.contamination_date, task.contamination_date
    if not _is_dated_earlier(*dates):
        return None
    was, now = (f'{date:%Y-%m-%d}' if date else 'unknown' for date in dates)
    return f'{DATED_EARLIER}: {now}, not {was}'


def _is_dated_earlier(before: datetime | None, now: datetime | None) -> bool:
    """Return whether some cutoff would have called the task clean before but not now."""
    return before is not None and (now is None or now < before)


def _format_reason(drop: Drop) -> str:
    return f'{drop.reason}: {drop.detail}' if drop.detail else drop.reason


def _load_rows(
    root: Root, table: str, columns: Collection[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield rows as dicts, without columns that an older schema lacks."""
    for file in _open_files(root, table):
        yield from iterate_rows(file, None if columns is None else sorted(columns))


def _open_files(root: Root, table: str) -> Iterator[Path | pa.BufferReader]:
    if isinstance(root, Path):
        yield from snapshot.list_data_files(root, table)
        return
    storage = open_place(root)
    for name in select_table_files(table, snapshot.load_manifest(root)['files']):
        stored_file = storage.read(name)
        if stored_file is None:
            raise DamagedSnapshot(f'{storage.describe(name)} is missing: get the snapshot again')
        yield pa.BufferReader(stored_file.data)
