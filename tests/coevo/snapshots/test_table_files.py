"""Rows of a table as they are read back from its Parquet file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from coevo.snapshots.table_files import ROWS_PER_GROUP, iterate_rows, write_table_file

SCHEMA = pa.schema(
    [
        ('number', pa.int64()),
        ('parts', pa.list_(pa.struct([('name', pa.dictionary(pa.int32(), pa.string()))]))),
    ]
)


def test_rows_with_nested_columns_are_read_across_row_groups(tmp_path: Path) -> None:
    count = ROWS_PER_GROUP['methods'] + 1_001
    rows = [{'number': n, 'parts': [{'name': f'part {n % 7}'}]} for n in range(count)]
    file = tmp_path / 'methods.parquet'
    write_table_file(file, 'methods', SCHEMA, rows, lambda some: pa.Table.from_pylist(some, SCHEMA))
    assert list(iterate_rows(file)) == rows
    assert list(iterate_rows(file, ['number', 'absent'])) == [{'number': n} for n in range(count)]
