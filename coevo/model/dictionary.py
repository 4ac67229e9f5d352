"""The data dictionary: the contents of every column, from the `Column` of its field."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from coevo.model.column import Choice, Column, split_optional

_PLAIN = {str: 'text', int: 'integer', float: 'number', bool: 'yes or no', datetime: 'time (UTC)'}


@dataclass(frozen=True, slots=True, kw_only=True)
class DictionaryEntry:
    """A column, or a field of a nested one, such as `mutation.killed`.

    kind    its type in words
    values  the members of a choice, each with its explaining clause
    """

    path: str
    kind: str
    nullable: bool
    sentence: str
    unit: str | None
    values: tuple[Choice, ...]

    @property
    def text(self) -> str:
        """The description, unit and values in one paragraph."""
        unit = f' Unit: {self.unit}.' if self.unit else ''
        values = '; '.join(f'`{choice.value}`: {choice.clause}' for choice in self.values)
        return f'{self.sentence}{unit}{f" Values: {values}." if values else ""}'


@cache
def list_entries(record: type) -> tuple[DictionaryEntry, ...]:
    """Return the columns of a record type, each followed by its nested fields.

    Raises: TypeError if a field has no `Column`.
    """
    return tuple(_list_nested_entries(record, ''))


@cache
def map_columns_by_path(record: type) -> dict[str, DictionaryEntry]:
    """Return the entries of `list_entries` by path."""
    return {entry.path: entry for entry in list_entries(record)}


def split_annotation(hint: Any) -> tuple[Any, Column | None]:
    """Return the plain type of an annotation, and its `Column` if it has one."""
    if get_origin(hint) is not Annotated:
        return hint, None
    plain, *notes = get_args(hint)
    return plain, next((note for note in notes if isinstance(note, Column)), None)


def _list_nested_entries(record: type, prefix: str) -> Iterator[DictionaryEntry]:
    hints = get_type_hints(record, include_extras=True)
    for item in dataclasses.fields(record):
        hint, column = split_annotation(hints[item.name])
        if column is None:
            raise TypeError(f'{record.__name__}.{item.name} has no Column')
        inner, nullable = split_optional(hint)
        element = get_args(inner)[0] if get_origin(inner) is tuple else inner
        path = f'{prefix}{item.name}'
        yield DictionaryEntry(
            path=path,
            kind=_describe_kind(inner, element),
            nullable=nullable,
            sentence=column.sentence,
            unit=column.unit,
            values=_list_choices(element),
        )
        if dataclasses.is_dataclass(element):
            yield from _list_nested_entries(element, f'{path}.')  # type: ignore[arg-type]  # a type


def _describe_kind(hint: Any, element: Any) -> str:
    if dataclasses.is_dataclass(element):
        kind = 'group'
    elif issubclass(element, StrEnum):
        kind = 'choice'
    else:
        kind = _PLAIN[element]
    return kind if hint is element else f'list of {kind}'


def _list_choices(element: Any) -> tuple[Choice, ...]:
    return tuple(element) if isinstance(element, type) and issubclass(element, Choice) else ()
