"""Encode records as JSON and decode them by their type hints. Equal records give equal bytes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import pyarrow as pa

from coevo.model.column import split_optional

Record = TypeVar('Record')
Convert = Callable[[Any], Any]


def encode_record(record: Any) -> bytes:
    """Return a record as JSON with sorted keys, times in ISO 8601 and strings in ASCII."""
    return json.dumps(
        record, default=_to_json_value, sort_keys=True, separators=(',', ':'), allow_nan=False
    ).encode()


def decode_record(record: type[Record], data: bytes) -> Record:
    """Return the record that `encode_record` encoded. Missing fields take their defaults."""
    hint: Any = record  # mypy rejects a generic type where a hashable is expected
    decoded = _build_record_decoder(hint)(json.loads(data))
    assert isinstance(decoded, record)
    return decoded


def decode_table(record: type[Record], table: pa.Table) -> tuple[Record, ...]:
    """Return the records of a table made by `coevo.model.schema.build_table`.

    Times are UTC. Columns that the record type does not have are ignored.
    """
    fields: Any = record
    known = {item.name for item in dataclasses.fields(fields)}
    rows = table.select([name for name in table.column_names if name in known]).to_pylist()
    return tuple(decode_record(record, encode_record(row)) for row in rows)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}


@cache
def _find_decoder(hint: Any) -> Convert | None:
    """Return a function that converts JSON values to a type; None if they need no conversion."""
    inner, nullable = split_optional(hint)
    convert = _find_inner_decoder(inner)
    if not nullable or convert is None:
        return convert
    return lambda value: None if value is None else convert(value)


def _find_inner_decoder(hint: Any) -> Convert | None:
    if get_origin(hint) is tuple:
        return _build_tuple_decoder(get_args(hint))
    if dataclasses.is_dataclass(hint):
        record: Any = hint
        return _build_record_decoder(record)
    if issubclass(hint, StrEnum):
        return {item.value: item for item in hint}.__getitem__
    if hint is datetime:
        return datetime.fromisoformat
    return None


def _build_tuple_decoder(arguments: tuple[Any, ...]) -> Convert:
    if arguments[-1] is Ellipsis:
        convert = _find_decoder(arguments[0])
        return tuple if convert is None else lambda values: tuple(map(convert, values))
    converts = [_find_decoder(argument) or (lambda value: value) for argument in arguments]
    return lambda values: tuple(c(value) for c, value in zip(converts, values, strict=True))


@cache
def _build_record_decoder(record: Any) -> Convert:
    hints = get_type_hints(record)
    converts = [
        (item.name, convert)
        for item in dataclasses.fields(record)
        if (convert := _find_decoder(hints[item.name])) is not None
    ]

    def make_record(values: dict[str, Any]) -> Any:
        """Convert the fields that need it, and return the record."""
        for name, convert in converts:
            if name in values:
                values[name] = convert(values[name])
        return record(**values)

    return make_record
