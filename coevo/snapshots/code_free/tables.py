"""The data files of an edition, read as they are, whatever the schema version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model import schema_2
from coevo.model.schema import TABLES, build_arrow_schema
from coevo.model.texts import find_third_party_paths

_ROWS = 2_000  # read at once

# Tables by the name of their folder; schema 2 had other names.
_TABLES = {name: name for name in TABLES} | {was: name for name, was in schema_2.TABLES.items()}


def find_table_of_file(name: str) -> str | None:
    """Return the table that a file of a snapshot belongs to; None for other files."""
    parts = PurePosixPath(name).parts
    return _TABLES.get(parts[1]) if len(parts) == 3 and parts[0] == 'data' else None


def find_text_columns(name: str) -> frozenset[str]:
    """Return the columns with third-party text of the table that a file belongs to.

    Empty for a file of no table. A field of a nested column is written as `mutants.original`.
    """
    table = find_table_of_file(name)
    return frozenset() if table is None else find_third_party_paths(TABLES[table])


def list_files_with_texts(folder: Path) -> tuple[str, ...]:
    """Return the names of a folder's Parquet files whose tables have third-party text, sorted."""
    files = (path.relative_to(folder).as_posix() for path in folder.glob('data/*/*.parquet'))
    return tuple(sorted(name for name in files if find_text_columns(name)))


def load_pair_ids(file: Path) -> Sequence[str]:
    """Return the `pair_id` of each row of a Parquet file, in the order of the rows."""
    pair_ids: list[str] = pq.read_table(file, columns=['pair_id']).column(0).to_pylist()
    return pair_ids


def load_rows(folder: Path, table: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table from all its files, sorted by file name.

    The table must have the same name in all schema versions.
    """
    for file in sorted((folder / 'data' / table).glob('*.parquet')):
        yield from load_file_rows(file)


def load_file_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file as dictionaries, in their order."""
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(batch_size=_ROWS):
            yield from batch.to_pylist()


def restore_release_schema(schema: pa.Schema, table: str) -> pa.Schema:
    """Return the schema that the release's file has, given that of the edition's file.

    They differ in the columns with third-party text alone, all of which an edition has nullable.
    """
    return pa.schema(
        _restore_fields(
            list(schema), build_arrow_schema(TABLES[table]), find_third_party_paths(TABLES[table])
        ),
        metadata=schema.metadata,
    )


def _restore_fields(
    fields: Sequence[pa.Field], wanted: Any, paths: frozenset[str], prefix: str = ''
) -> list[pa.Field]:
    restored = []
    for field in fields:
        path = f'{prefix}{field.name}'
        if path in paths:
            restored.append(field.with_nullable(wanted.field(field.name).nullable))
        elif any(each.startswith(f'{path}.') for each in paths):
            kind = wanted.field(field.name).type.value_type
            inner = pa.struct(_restore_fields(list(field.type.value_type), kind, paths, f'{path}.'))
            restored.append(field.with_type(pa.list_(field.type.value_field.with_type(inner))))
        else:
            restored.append(field)
    return restored
