"""Row groups of a table, made of a few rows at a time, as if the table had been made in one piece.

Parquet keeps the dictionary of a column with each of its row groups, in the order of the whole table. So
what the dictionaries hold has to be known before the first group is written: the rows, as Arrow has them, wait in
a file that has no name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from typing import TypeVar

import pyarrow as pa

Item = TypeVar('Item')

# Rows that are made Arrow's at once.
_ROWS = 2_000


def row_groups(
    schema: pa.Schema,
    rows: Iterable[Any],
    size: int,
    folder: Path | None = None,
    *,
    made: Callable[[Sequence[Any]], pa.Table],
    at_once: int = _ROWS,
) -> Iterator[pa.Table]:
    """The groups of so many rows, each column in one piece; none if there are no rows.

    made  some rows as a table of that schema
    """
    known = schema.empty_table()
    options = pa.ipc.IpcWriteOptions(compression='lz4')
    with tempfile.TemporaryFile(dir=folder) as file:
        with pa.ipc.new_stream(file, schema, options=options) as waiting:
            for found in _some(iter(rows), min(size, at_once)):
                part = made(found)
                waiting.write_table(part)
                known = _known(known, part)
        file.seek(0)
        with pa.ipc.open_stream(file) as waiting:
            parts = (_with(known, pa.Table.from_batches([batch])) for batch in waiting)
            yield from _groups(parts, size)


def _known(known: pa.Table, part: pa.Table) -> pa.Table:
    """No rows, with dictionaries that hold what those of both hold, in that order."""
    both = _pieces(known, part).unify_dictionaries()
    return pa.Table.from_arrays([column.chunk(0) for column in both.columns], schema=known.schema)


def _with(known: pa.Table, part: pa.Table) -> pa.Table:
    """The rows of a part, with the dictionaries that are known."""
    both = _pieces(known, part).unify_dictionaries()
    return pa.Table.from_arrays([column.chunk(1) for column in both.columns], schema=known.schema)


def _pieces(known: pa.Table, part: pa.Table) -> pa.Table:
    columns = [
        pa.chunked_array([_piece(empty), _piece(column)])
        for empty, column in zip(known.columns, part.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=known.schema)


def _piece(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], type=column.type)


def _groups(parts: Iterable[pa.Table], size: int) -> Iterator[pa.Table]:
    held: list[pa.Table] = []
    count = 0
    for part in parts:
        held.append(part)
        count += len(part)
        while count >= size:
            whole = pa.concat_tables(held)
            yield whole.slice(0, size).combine_chunks()
            held, count = [whole.slice(size)], count - size
    if count:
        yield pa.concat_tables(held).combine_chunks()


def _some(items: Iterator[Item], count: int) -> Iterator[list[Item]]:
    while found := list(islice(items, count)):
        yield found
