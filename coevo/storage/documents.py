"""Records stored as files: one line of JSON, or a Parquet table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model import codec, schema
from coevo.model.errors import Fatal
from coevo.storage.place import StoragePlace, StoredFile


def encode_line(record: object) -> bytes:
    """Return a record as the bytes of a file: one line of JSON."""
    return codec.encode_record(record) + b'\n'


def load_record(
    record: type[codec.Record], place: StoragePlace, name: str, remedy: str
) -> codec.Record | None:
    """Return the record in a file written with `encode_line`; None if there is no file.

    Raises: Fatal, with the remedy, if the file is damaged.
    """
    file = place.read(name)
    return None if file is None else decode_record(record, place, name, file, remedy)


def decode_record(
    record: type[codec.Record], place: StoragePlace, name: str, found: StoredFile, remedy: str
) -> codec.Record:
    """Return the record in a file that was read already.

    Raises: Fatal, with the remedy, if the file is damaged.
    """
    try:
        return codec.decode_record(record, found.data)
    except (ValueError, TypeError, KeyError) as error:
        raise Fatal(f'{place.describe(name)} is damaged: {remedy}') from error


def encode_parquet(record: type, rows: Sequence[Any]) -> bytes:
    """Return records of one type as a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.build_table(record, rows), sink, compression='zstd')
    return bytes(sink.getvalue())
