"""Tables as Parquet files: the same rows give the same bytes.

Rows of methods and tasks stand by track, then by quarter of their contamination date, then by
repository, so that the statistics of row groups let a reader skip what it does not ask for. Row groups
of tables with long texts are small: a remote reader fetches whole ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model.records import Track
from coevo.model.schema import KEYS
from coevo.model.schema import TABLES
from coevo.model.schema import table

ROWS_PER_GROUP = {'methods': 5_000, 'tasks': 1_000}
_OTHERS_PER_GROUP = 100_000


def files(name: str) -> tuple[str, ...]:
    """The files of a table, below the snapshot: tasks have one for each track."""
    parts = sorted(Track) if name == 'tasks' else ('part-0',)
    return tuple(f'data/{name}/{part}.parquet' for part in parts)


def write_table(folder: Path, name: str, rows: Sequence[Any]) -> list[Path]:
    """Write the files of a table under a folder; their paths."""
    paths = [folder / file for file in files(name)]
    paths[0].parent.mkdir(parents=True)
    for path in paths:
        wanted = rows if len(paths) == 1 else [row for row in rows if row.track == path.stem]
        _write(path, name, wanted)
    return paths


def _write(path: Path, name: str, rows: Sequence[Any]) -> None:
    placed = sorted(rows, key=lambda row: _place(name, row)) if name in ROWS_PER_GROUP else rows
    content = table(TABLES[name], placed)
    compact = list(_dictionaries(content.schema))
    with pq.ParquetWriter(path, content.schema, compression='zstd', use_dictionary=compact) as file:
        if placed:  # a row group without rows is more than some readers bear
            size = ROWS_PER_GROUP.get(name, _OTHERS_PER_GROUP)
            file.write_table(content, row_group_size=size)


def _place(name: str, row: Any) -> tuple[object, ...]:
    key = tuple(str(getattr(row, column)) for column in KEYS[name])
    date = row.contamination_date
    return (
        row.track is None,
        row.track or '',
        _quarter(date),
        row.repo,
        date is None,
        date or 0,
        key,
    )


def _quarter(date: datetime | None) -> tuple[int, int]:
    return (date.year, (date.month - 1) // 3) if date else (10_000, 0)


def _dictionaries(fields: Sequence[pa.Field] | pa.Schema, prefix: str = '') -> Iterator[str]:
    """The columns that the schema keeps by dictionary, as Parquet names them."""
    for field in fields:
        name, kind = f'{prefix}{field.name}', field.type
        if pa.types.is_list(kind):
            name, kind = f'{name}.list.element', kind.value_type
        if pa.types.is_dictionary(kind):
            yield name
        elif pa.types.is_struct(kind):
            yield from _dictionaries(list(kind), f'{name}.')
