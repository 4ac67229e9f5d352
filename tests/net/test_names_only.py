"""What the renaming to schema 3 left as it was: the rows of a release, and their order.

Each test reads data under the names of schema 2 again, by `coevo.model.schema_2`, and compares it with what the
code before the renaming gave.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from coevo.model import schema_2
from coevo.model.schema import (
    TABLES,
    build_table_schema,
    find_missing_columns,
    list_columns,
    list_columns_in_files,
)
from coevo.snapshots import snapshot
from tests.coevo.snapshots.older_schemas import LAST_OF_2, write_as_schema_2
from tests.packagers.test_same_bytes import released

BEFORE = json.loads((Path(__file__).parent / 'release.json').read_bytes())

# What follows from the version of an engine.
CHANGING = {'engine_version'}


def rows_by_old_names(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[list[Any]]:
    """The rows of a view in their order, each as pairs of a column's old name and its value."""
    later = find_missing_columns(table, LAST_OF_2)
    fields = [field for field in build_table_schema(table) if field.name not in later]
    sql = schema_2.build_old_names_select(table, table, fields)
    # Drops are sorted by their stage and reason, which have other names.
    order = 'ORDER BY ALL' if table == 'drops' else ''
    result = connection.execute(f'FROM {sql} {order}')
    names = [name for name, *_ in result.description]
    while row := result.fetchone():
        yield [
            [name, str(value)]
            for name, value in zip(names, row, strict=True)
            if name not in CHANGING
        ]


def digest(rows: Iterator[list[Any]]) -> str:
    found = hashlib.sha256()
    for row in rows:
        found.update(json.dumps(row).encode())
    return found.hexdigest()


def test_release_has_the_same_rows_as_under_the_names_of_schema_2(tmp_path: Path) -> None:
    connection = snapshot.open_snapshots(released(tmp_path))
    tables = [table for table in TABLES if table != 'timings']
    found = {
        schema_2.TABLES.get(table, table): digest(rows_by_old_names(connection, table))
        for table in tables
    }
    assert found == BEFORE


def test_schema_2_snapshot_is_read_with_the_values_of_its_files(tmp_path: Path) -> None:
    place = released(tmp_path)
    write_as_schema_2(place, LAST_OF_2)
    connection = snapshot.open_snapshots(place)
    read = set()
    for table in TABLES:
        folder = place / 'data' / schema_2.TABLES.get(table, table)
        if not folder.is_dir():
            continue
        read.add(table)
        fields = list_columns(table, LAST_OF_2)
        names = ', '.join(f'"{field.name}"' for field in list_columns_in_files(table, LAST_OF_2))
        plain = duckdb.sql(f"SELECT {names} FROM read_parquet('{folder}/*.parquet') ORDER BY ALL")
        sql = schema_2.build_old_names_select(table, table, fields)
        assert connection.execute(f'FROM {sql} ORDER BY ALL').fetchall() == plain.fetchall(), table
    assert {'methods', 'tasks', 'cells'} <= read
