"""The one way in which rows of a table become a Parquet file: the same rows give the same bytes.

Row groups of tables with long texts are small: a remote reader fetches whole ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.snapshots.row_groups import build_row_groups

ROWS_PER_GROUP = {'methods': 5_000, 'tasks': 1_000}
_OTHERS_PER_GROUP = 100_000


def write_table_file(
    path: Path,
    name: str,
    schema: pa.Schema,
    rows: Iterable[Any],
    made: Callable[[Sequence[Any]], pa.Table],
    space: Path | None = None,
) -> None:
    """A file of a table with its rows in their order; `made` makes a table of that schema of some.

    space  where what takes room meanwhile is put; None is where temporary files are
    """
    size = ROWS_PER_GROUP.get(name, _OTHERS_PER_GROUP)
    with pq.ParquetWriter(
        path, schema, compression='zstd', use_dictionary=list(_list_dictionary_columns(schema))
    ) as file:
        for group in build_row_groups(schema, rows, size, space, made=made):
            file.write_table(group, row_group_size=size)


def _list_dictionary_columns(
    fields: Sequence[pa.Field] | pa.Schema, prefix: str = ''
) -> Iterator[str]:
    """The columns that the schema keeps by dictionary, as Parquet names them."""
    for field in fields:
        name, kind = f'{prefix}{field.name}', field.type
        if pa.types.is_list(kind):
            name, kind = f'{name}.list.element', kind.value_type
        if pa.types.is_dictionary(kind):
            yield name
        elif pa.types.is_struct(kind):
            yield from _list_dictionary_columns(list(kind), f'{name}.')
