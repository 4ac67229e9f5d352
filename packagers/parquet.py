"""Write tables as Parquet files, where the same rows give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from coevo.model.families import Family
from coevo.model.schema import (
    KEYS,
    TABLES,
    build_arrow_schema,
    build_table,
)
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.snapshots.table_files import ROWS_PER_GROUP, write_table_file
from packagers.row_files import Sorter

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def list_task_parts(tasks: Iterable[TaskRow]) -> tuple[str, ...]:
    """Return the names of the files of tasks: all tracks of co-evolution, then families with tasks.

    Tracks always have a file: users who load the same three every month see that one is empty. A
    family has one if it has tasks, since Hugging Face's library does not load zero rows.
    """
    present = {_name_task_part(task) for task in tasks}
    tracks = sorted(Track)
    return (*tracks, *(str(family) for family in sorted(Family) if family in present))


def _name_task_part(task: TaskRow) -> str:
    is_suite = task.family not in (None, Family.COEVOLUTION)
    return str(task.family if is_suite else task.track)


def write_table(
    folder: Path, name: str, rows: Iterable[Any], space: Path | None = None
) -> list[Path]:
    """Write the files of a table under `folder/data/NAME`, and return their paths.

    Tasks have a file for each track or family, other tables have one.

    space  the folder for large temporary files; None uses the default folder for temporary files
    """
    target = folder / 'data' / name  # own name: one of TABLES
    target.mkdir(parents=True)
    paths = []
    for part, placed in _sort_into_files(name, rows, space):
        paths.append(target / f'{part}.parquet')  # own name: of a track, a family or `part-0`
        _write_file(paths[-1], name, placed, space)
    return paths


def _sort_into_files(
    name: str, rows: Iterable[Any], space: Path | None
) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield the name of each file of a table, without its ending, and its rows in their order."""
    if name not in ROWS_PER_GROUP:
        yield 'part-0', rows
        return
    is_of_tasks = name == 'tasks'
    sorters: dict[str, Sorter[Any]] = {}
    for part in sorted(Track) if is_of_tasks else ('part-0',):
        sorters[part] = Sorter(TABLES[name], space)
    for row in rows:
        part = _name_task_part(row) if is_of_tasks else 'part-0'
        if part not in sorters:
            sorters[part] = Sorter(TABLES[name], space)
        sorters[part].add(_get_sort_key(name, row), row)
    for part, sorter in sorters.items():
        yield part, sorter.finish()


def _write_file(path: Path, name: str, rows: Iterable[Any], space: Path | None) -> None:
    record = TABLES[name]
    write_table_file(
        path, name, build_arrow_schema(record), rows, partial(build_table, record), space
    )


def _get_sort_key(name: str, row: Any) -> tuple[object, ...]:
    key = tuple(str(getattr(row, column)) for column in KEYS[name])
    date = row.contamination_date
    return (
        row.track is None,
        str(row.track or ''),
        _get_quarter(date),
        row.repo,
        date is None,
        (date - _EPOCH) // _MICROSECOND if date else 0,
        key,
    )


def _get_quarter(date: datetime | None) -> tuple[int, int]:
    return (date.year, (date.month - 1) // 3) if date else (10_000, 0)
