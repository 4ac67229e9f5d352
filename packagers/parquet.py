"""Tables as Parquet files: the same rows give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.schema import TABLES
from coevo.schema import table

ROWS_PER_GROUP = 100_000


def write_table(folder: Path, name: str, rows: Sequence[Any]) -> Path:
    """Write `data/NAME/part-0.parquet` under a folder; its path."""
    content = table(TABLES[name], rows)
    path = folder / 'data' / name / 'part-0.parquet'
    path.parent.mkdir(parents=True)
    pq.write_table(
        content,
        path,
        compression='zstd',
        row_group_size=ROWS_PER_GROUP,
        use_dictionary=list(_dictionaries(content.schema)),
    )
    return path


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
