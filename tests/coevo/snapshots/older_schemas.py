"""Snapshots as an earlier schema had them, written by the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model import schema_2
from coevo.model.schema import (
    TABLES,
    SchemaVersion,
    build_table_of_plain_rows,
    list_columns_in_files,
)
from tests.coevo.snapshots.test_verification import reseal

LAST_OF_2 = SchemaVersion(2, 5)
OLD_VALUES = {
    **{new: old for values in schema_2.VALUES.values() for new, old in values.items()},
    't_old_c_old_fail': 'told_cold_fail',
    't_new_c_new_error': 'tnew_cnew_error',
}


NUMBER_KEPT_BY_HAND = 19
"""The version of an engine in schema 2, where schema 3 has a digest."""


def write_as_schema_2(snapshot: Path, version: SchemaVersion) -> None:
    """Give a snapshot the columns, values and files of a version 2."""
    for table in TABLES:
        folder = snapshot / 'data' / table
        for file in sorted(folder.glob('*.parquet')):
            rows = [rename_row(table, row) for row in pq.read_table(file).to_pylist()]
            fields = list_columns_in_files(table, version)
            pq.write_table(build_table_of_plain_rows(pa.schema(fields), rows), file)
        if folder.is_dir():
            folder.rename(folder.with_name(schema_2.TABLES.get(table, table)))
    text = (snapshot / 'manifest.json').read_text()
    for new, old in schema_2.TABLES.items():
        text = text.replace(f'data/{new}/', f'data/{old}/').replace(f'"{new}"', f'"{old}"')
    manifest = json.loads(text)
    for walk in manifest['walks']:
        walk['engine_version'] = NUMBER_KEPT_BY_HAND
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    set_version(snapshot, version)


def rename_row(table: str, row: dict[str, Any]) -> dict[str, Any]:
    columns = schema_2.COLUMNS.get(table, {})
    old = {}
    for column, value in row.items():
        fields = schema_2.FIELDS.get((table, column))
        if fields is not None and isinstance(value, dict):
            value = {fields.get(field, field): inner for field, inner in value.items()}
        elif fields is not None and value is not None:
            value = [{fields.get(f, f): inner for f, inner in each.items()} for each in value]
        elif (table, column) in schema_2.NUMBERS and value is not None:
            value = NUMBER_KEPT_BY_HAND
        elif isinstance(value, str):
            value = OLD_VALUES.get(value, value)
        old[columns.get(column, column)] = value
    return old


def set_version(snapshot: Path, version: tuple[Any, Any]) -> None:
    """Let the manifest name a version, and fit what the files say now."""
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest['schema_version'], manifest['schema_minor'] = version
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    reseal(snapshot)
