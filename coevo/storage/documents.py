"""Records that stand in a place as files: one line of JSON, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model import codec, schema
from coevo.model.errors import Fatal
from coevo.storage.place import StoragePlace, StoredFile


def encode_line(record: object) -> bytes:
    """A record as a file of its own."""
    return codec.encode_record(record) + b'\n'


def load_record(
    record: type[codec.Record], place: StoragePlace, name: str, remedy: str
) -> codec.Record | None:
    """What `line` was given, None if there is no file; Fatal, with its remedy, if it is damaged."""
    file = place.read(name)
    return None if file is None else decode_record(record, place, name, file, remedy)


def decode_record(
    record: type[codec.Record], place: StoragePlace, name: str, found: StoredFile, remedy: str
) -> codec.Record:
    """The same of a file that was read already."""
    try:
        return codec.decode_record(record, found.data)
    except (ValueError, TypeError, KeyError) as error:
        raise Fatal(f'{place.describe(name)} is damaged: {remedy}') from error


def encode_parquet(record: type, rows: Sequence[Any]) -> bytes:
    """Records of one type as a table."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.build_table(record, rows), sink, compression='zstd')
    return bytes(sink.getvalue())
