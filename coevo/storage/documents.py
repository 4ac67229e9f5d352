"""Records that stand in a place as files: one line of JSON, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model import codec
from coevo.model import schema
from coevo.model.errors import Fatal
from coevo.storage.place import Found
from coevo.storage.place import Place


def line(record: object) -> bytes:
    """A record as a file of its own."""
    return codec.encode(record) + b'\n'


def read(record: type[codec.Record], place: Place, name: str, remedy: str) -> codec.Record | None:
    """What `line` was given, None if there is no file; Fatal, with its remedy, if it is damaged."""
    found = place.read(name)
    return None if found is None else decoded(record, place, name, found, remedy)


def decoded(
    record: type[codec.Record], place: Place, name: str, found: Found, remedy: str
) -> codec.Record:
    """The same of a file that was read already."""
    try:
        return codec.decode(record, found.data)
    except (ValueError, TypeError, KeyError) as error:
        raise Fatal(f'{place.shown(name)} is damaged: {remedy}') from error


def parquet(record: type, rows: Sequence[Any]) -> bytes:
    """Records of one type as a table."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.table(record, rows), sink, compression='zstd')
    return bytes(sink.getvalue())
