"""Pack records as plain values and back, for files that only this process reads.

`coevo.model.codec` is for stored files; packing takes a fifth of its time, and records no versions.
"""

from __future__ import annotations

import dataclasses
import marshal
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from coevo.model.column import split_optional

Row = TypeVar('Row')
Convert = Callable[[Any], Any]


class RowPacker(Generic[Row]):
    """Packs records of one type, including nested records."""

    def __init__(self, record: type[Row]) -> None:
        hint: Any = record  # mypy takes no generic type for hashable
        self._plain, self._made = _make_converters(hint)

    def pack(self, row: Row) -> bytes:
        """Return a row as bytes."""
        values = self._plain(row)
        try:
            return marshal.dumps(values)
        except ValueError:  # marshal refuses enum members, which a text field may hold
            return marshal.dumps(_unwrap_enums(values))

    def unpack(self, packed: bytes) -> Row:
        """Return the row that was packed."""
        row: Row = self._made(marshal.loads(packed))
        return row


@cache
def _make_converters(record: Any) -> tuple[Convert, Convert]:
    """Return two functions: from a record to a list of plain values, and back.

    The values are in the order of the record's fields.
    """
    hints = get_type_hints(record)
    names = [item.name for item in dataclasses.fields(record)]
    choices = [_find_converters(hints[name]) for name in names]
    outward = [(at, choice[0]) for at, choice in enumerate(choices) if choice]
    inward = [(at, choice[1]) for at, choice in enumerate(choices) if choice]
    values_of = attrgetter(*names, names[0])  # a tuple even for a single field
    # Skip the constructor, as unpickling does: packed records have passed it before.
    setters = [getattr(record, name).__set__ for name in names]

    def to_plain(row: Any) -> list[Any]:
        """Convert a record to plain values."""
        values = list(values_of(row))
        values.pop()
        for at, convert in outward:
            if values[at] is not None:
                values[at] = convert(values[at])
        return values

    def from_plain(values: Any) -> Any:
        """Convert plain values to a record."""
        values = list(values)
        for at, convert in inward:
            if values[at] is not None:
                values[at] = convert(values[at])
        row = object.__new__(record)
        for setter, value in zip(setters, values, strict=True):
            setter(row, value)
        return row

    return to_plain, from_plain


def _find_converters(hint: Any) -> tuple[Convert, Convert] | None:
    """Return converters for both directions of a value; None if it needs no conversion.

    None as a value is not passed to them.
    """
    inner: Any = split_optional(hint)[0]
    if get_origin(inner) is tuple:
        return _make_tuple_converters(_find_converters(get_args(inner)[0]))
    if dataclasses.is_dataclass(inner):
        record: Any = inner
        return _make_converters(record)
    if issubclass(inner, StrEnum):
        return str.__str__, {item.value: item for item in inner}.__getitem__
    if issubclass(inner, datetime):
        return datetime.isoformat, datetime.fromisoformat
    return None


def _unwrap_enums(value: Any) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    return tuple(map(_unwrap_enums, value)) if isinstance(value, list | tuple) else value


def _make_tuple_converters(
    choice: tuple[Convert, Convert] | None,
) -> tuple[Convert, Convert] | None:
    if choice is None:
        return None
    outward, inward = choice
    return (
        lambda values: tuple(map(outward, values)),
        lambda values: tuple(map(inward, values)),
    )
