"""What is found out of method rows by looking at all of them, to be put into their columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage
from coevo.model.words import Walk
from packagers.row_files import Key, Sorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Columns of one row; those that are None are left as they are."""

    repo: str
    method_id: str
    walk: Walk
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None
    task_id: str | None = None
    task_coverage: Coverage | None = None
    leak: float | None = None


_COLUMNS = ('duplicate_of', 'near_duplicate_of', 'task_id', 'task_coverage', 'leak')


def apply_marks(
    methods: Iterable[MethodRow], marks: Iterable[Mark], space: Path | None = None
) -> Iterator[MethodRow]:
    """The rows, which stand in the order of their table, with the columns of all their marks."""
    sorter = Sorter(Mark, space)
    for mark in marks:
        sorter.add(_get_key(mark), mark)
    left = iter(sorter.finish())
    due = next(left, None)
    for row in methods:
        columns: dict[str, Any] = {}
        while due is not None and _get_key(due) <= _get_key(row):
            columns |= _list_filled_columns(due) if _get_key(due) == _get_key(row) else {}
            due = next(left, None)
        yield dataclasses.replace(row, **columns) if columns else row


def _get_key(row: Mark | MethodRow) -> Key:
    return row.repo, row.method_id, str(row.walk)


def _list_filled_columns(mark: Mark) -> dict[str, Any]:
    values = ((name, getattr(mark, name)) for name in _COLUMNS)
    return {name: value for name, value in values if value is not None}
