"""Write rows of a table to a Parquet file, so that the same rows always give the same bytes.

Tables with long texts have small row groups, since a remote reader fetches whole groups.

Parquet stores the dictionary of a column with each row group, in the order of the whole table. So
the dictionaries must be complete before the first group is written. Until then the rows wait, as
Arrow record batches, in an unnamed temporary file. A single batch does not wait.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_PER_GROUP = {'methods': 5_000, 'tasks': 1_000}
_OTHERS_PER_GROUP = 100_000


def write_table_file(
    path: Path,
    name: str,
    schema: pa.Schema,
    rows: Iterable[Any],
    make_table: Callable[[Sequence[Any]], pa.Table],
    temporary_folder: Path | None = None,
) -> None:
    """Write the rows of a table to a Parquet file, in their order.

    made   converts a batch of rows to an Arrow table of the schema
    space  folder for temporary data; None is the default for temporary files
    """
    size = ROWS_PER_GROUP.get(name, _OTHERS_PER_GROUP)
    with pq.ParquetWriter(
        path, schema, compression='zstd', use_dictionary=list(_list_dictionary_columns(schema))
    ) as file:
        for group in build_row_groups(schema, rows, size, temporary_folder, make_table=make_table):
            file.write_table(group, row_group_size=size)


def iterate_rows(
    file: Path | pa.BufferReader, columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file as dictionaries, in their order.

    Each row group is read for itself, since Arrow converts no batch with nested columns that begins
    in one row group and ends in the next.

    columns  names of the wanted columns; None for all. Those that the file lacks are left out
    """
    with pq.ParquetFile(file) as parquet:
        names = [name for name in parquet.schema_arrow.names if columns is None or name in columns]
        for group in range(parquet.num_row_groups):
            for batch in parquet.iter_batches(_ROWS, row_groups=[group], columns=names):
                yield from batch.to_pylist()


def _list_dictionary_columns(
    fields: Sequence[pa.Field] | pa.Schema, prefix: str = ''
) -> Iterator[str]:
    """Yield the columns that the schema encodes by dictionary, under their Parquet names."""
    for field in fields:
        name, kind = f'{prefix}{field.name}', field.type
        if pa.types.is_list(kind):
            name, kind = f'{name}.list.element', kind.value_type
        if pa.types.is_dictionary(kind):
            yield name
        elif pa.types.is_struct(kind):
            yield from _list_dictionary_columns(list(kind), f'{name}.')


Item = TypeVar('Item')

# Rows that are converted to Arrow at once.
_ROWS = 2_000


def build_row_groups(
    schema: pa.Schema,
    rows: Iterable[Any],
    size: int,
    temporary_folder: Path | None = None,
    *,
    make_table: Callable[[Sequence[Any]], pa.Table],
    at_once: int = _ROWS,
) -> Iterator[pa.Table]:
    """Yield row groups of `size` rows, the last one smaller; none if there are no rows.

    Each column is one chunk, and all groups have the same dictionaries.

    made      converts a batch of rows to a table of the schema
    folder    folder for temporary data; None is the default for temporary files
    at_once   rows to convert at once
    """
    known = schema.empty_table()
    batches = _take_batches(iter(rows), min(size, at_once))
    first, second = next(batches, None), next(batches, None)
    if first is None:
        return
    if second is None:  # nothing has to wait for the dictionaries of other batches
        part = make_table(first)
        yield _apply_dictionaries(
            _merge_dictionaries_without_rows(known, part), part
        ).combine_chunks()
        return
    options = pa.ipc.IpcWriteOptions(compression='lz4')
    with tempfile.TemporaryFile(dir=temporary_folder) as file:
        with pa.ipc.new_stream(file, schema, options=options) as waiting:
            for some_rows in chain((first, second), batches):
                part = make_table(some_rows)
                waiting.write_table(part)
                known = _merge_dictionaries_without_rows(known, part)
        file.seek(0)
        with pa.ipc.open_stream(file) as waiting:
            parts = (
                _apply_dictionaries(known, pa.Table.from_batches([batch])) for batch in waiting
            )
            yield from _regroup_tables(parts, size)


def _merge_dictionaries_without_rows(known: pa.Table, part: pa.Table) -> pa.Table:
    """Return an empty table whose dictionaries hold the entries of both, those of `known` first."""
    both = _stack_columns(known, part).unify_dictionaries()
    return pa.Table.from_arrays([column.chunk(0) for column in both.columns], schema=known.schema)


def _apply_dictionaries(known: pa.Table, part: pa.Table) -> pa.Table:
    """Return the rows of a part, encoded with the dictionaries of `known`."""
    both = _stack_columns(known, part).unify_dictionaries()
    return pa.Table.from_arrays([column.chunk(1) for column in both.columns], schema=known.schema)


def _stack_columns(known: pa.Table, part: pa.Table) -> pa.Table:
    columns = [
        pa.chunked_array([_take_first_chunk(empty), _take_first_chunk(column)])
        for empty, column in zip(known.columns, part.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=known.schema)


def _take_first_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], type=column.type)


def _regroup_tables(parts: Iterable[pa.Table], size: int) -> Iterator[pa.Table]:
    pending: list[pa.Table] = []
    count = 0
    for part in parts:
        pending.append(part)
        count += len(part)
        while count >= size:
            whole = pa.concat_tables(pending)
            yield whole.slice(0, size).combine_chunks()
            pending, count = [whole.slice(size)], count - size
    if count:
        yield pa.concat_tables(pending).combine_chunks()


def _take_batches(items: Iterator[Item], count: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, count)):
        yield batch
