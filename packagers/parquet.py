"""Write tables as Parquet files; the same rows give the same bytes.

Rows of methods and tasks are sorted by track, then by quarter of their contamination date, then by
repository, so that the statistics of row groups let readers skip what they do not need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from coevo.model.schema import KEYS, TABLES, build_arrow_schema, build_table
from coevo.model.words import Track
from coevo.snapshots.table_files import ROWS_PER_GROUP, write_table_file
from packagers.row_files import Sorter

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def list_table_files(name: str) -> tuple[str, ...]:
    """Return the files of a table as paths in the snapshot; tasks have one file for each track."""
    parts = sorted(Track) if name == 'tasks' else ('part-0',)
    return tuple(f'data/{name}/{part}.parquet' for part in parts)


def write_table(
    folder: Path, name: str, rows: Iterable[Any], space: Path | None = None
) -> list[Path]:
    """Write the files of a table under a folder and return their paths.

    space  the folder for large temporary files; None uses the default folder for temporary files
    """
    paths = [folder / file for file in list_table_files(name)]
    paths[0].parent.mkdir(parents=True)
    for path, placed in zip(paths, _sort_into_files(name, rows, paths, space), strict=True):
        _write_file(path, name, placed, space)
    return paths


def _sort_into_files(
    name: str, rows: Iterable[Any], paths: Sequence[Path], space: Path | None
) -> Sequence[Iterable[Any]]:
    """Return the rows of each file in their order."""
    if name not in ROWS_PER_GROUP:
        return [rows]
    sorters: dict[str, Sorter[Any]] = {path.stem: Sorter(TABLES[name], space) for path in paths}
    for row in rows:
        sorters[row.track if len(paths) > 1 else paths[0].stem].add(_get_sort_key(name, row), row)
    return [sorter.finish() for sorter in sorters.values()]


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
