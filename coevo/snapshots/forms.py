"""The form that each value of a snapshot must have before anything is done with it.

A snapshot may come from anyone. Its ids, revisions and paths become file names, arguments of Git
and texts of SQL; its dates and numbers become Python values. So each has one form, given by the
name and type of its column, and is checked whenever a snapshot is opened.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from coevo.model.column import split_optional
from coevo.model.schema import TABLES, SchemaVersion, find_missing_columns
from coevo.snapshots.columns import TableFile

if TYPE_CHECKING:
    import duckdb

MONTH = r'\d{4}-(0[1-9]|1[0-2])'
_ID = '[0-9a-f]{16}'
_REVISION = '[0-9a-f]{40}([0-9a-f]{24})?'
_PART = '[A-Za-z0-9_][A-Za-z0-9_.-]*'
# The host in an address that Git clones from and a page may link to. The form allows no scheme or
# option that a browser or Git would execute.
_HOST = r'[A-Za-z0-9_\[][^\s\x00-\x1f\x7f:/]*'
_NO_SPACE, _NO_COLON = r'[^\s\x00-\x1f\x7f]', r'[^\s\x00-\x1f\x7f:]'

# Forms of text columns, as SQL regular expressions that match the whole value.
_TEXTS = {
    **dict.fromkeys(
        (
            *('task_id', 'method_id', 'pair_id', 'mutant_id'),
            *('method_ids', 'also_at', 'duplicate_of', 'near_duplicate_of'),
        ),
        _ID,
    ),
    # The key is a commit's revision if a walk dropped the commit.
    'key': f'{_ID}|{_REVISION}',
    **dict.fromkeys(('old_rev', 'new_rev', 'head'), _REVISION),
    **dict.fromkeys(('repo', 'family'), f'{_PART}/{_PART}'),
    **dict.fromkeys(('month', 'released'), MONTH),
    'language': '[a-z][a-z0-9]*',
    'ref': r'[^-\s\x00-\x1f\x7f][^\s\x00-\x1f\x7f]*',
    'url': rf'(https?|git|ssh)://{_HOST}{_NO_SPACE}*|[A-Za-z0-9_][\w.-]*@{_HOST}:{_NO_COLON}{_NO_SPACE}*',
    'engine_version': r'[0-9a-f]{12}|\d{1,3}',
    'start_file_sha256': '[0-9a-f]{64}',
    'sha256': '[0-9a-f]{64}',
}

# Columns with paths of files and folders in a repository; '.' is the root.
_PATHS = frozenset(
    ('test_file', 'old_test_file', 'file', 'left_file', 'right_file', 'module', 'old_module')
)
_NO_PARTS = "['', '.', '..', '.git']"  # Git allows none of these in a tree

# Columns with line numbers of a file; -1 if a class file does not have them. The limit exists
# because readers iterate over the lines.
_LINES = frozenset(
    (
        *('line', 'first_line', 'last_line', 'start_line', 'end_line'),
        *('left_start', 'left_end', 'right_start', 'right_end'),
    )
)
_MOST_LINES = 10_000_000

# Python cannot represent other dates.
_DATES = "TIMESTAMPTZ '0001-01-02 00:00:00+00' AND TIMESTAMPTZ '9999-12-30 00:00:00+00'"


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedValue:
    """A value that does not have the form of its column."""

    table: str
    column: str
    value: str

    def __str__(self) -> str:
        return f'a {self.column} of {self.table} that none can be: {self.value!r}'


def is_month(text: str) -> bool:
    """Return whether a text is a month, YYYY-MM."""
    return re.fullmatch(MONTH, text, re.ASCII) is not None


def is_repository(name: str) -> bool:
    """Return whether a text has the form OWNER/NAME, be there such a repository or not."""
    return re.fullmatch(_TEXTS['repo'], name) is not None


def find_first_malformed_values(
    connection: duckdb.DuckDBPyConnection,
    rows: Mapping[str, str],
    foreign: Sequence[TableFile] = (),
) -> Iterator[MalformedValue]:
    """Yield the first malformed value of each column.

    rows     the FROM source of each table
    foreign  files by other writers, which may hold nulls anywhere
    """
    oldest = {
        part.table: part.version
        for part in sorted(foreign, key=lambda part: part.version, reverse=True)
    }
    for table, source in rows.items():
        laws = _list_value_conditions(table, oldest.get(table))
        if not laws or _are_all_values_valid(connection, source, laws):
            continue
        broken = ', '.join(
            f"""any_value(coalesce(CAST("{name}" AS VARCHAR), 'null')) FILTER (NOT ({law}))"""
            for name, law in laws
        )
        (values,) = connection.execute(f'SELECT {broken} FROM {source}').fetchall()
        for (name, _), value in zip(laws, values, strict=True):
            if value is not None:
                yield MalformedValue(table=table, column=name, value=_shorten(value))


def _are_all_values_valid(
    connection: duckdb.DuckDBPyConnection, source: str, laws: Sequence[tuple[str, str]]
) -> bool:
    """Return whether no value breaks its condition: one answer takes less time than one a column."""
    all_laws = ' AND '.join(_make_true_for_null(law) for _, law in laws)
    ((is_so,),) = connection.execute(f'SELECT bool_and({all_laws}) FROM {source}').fetchall()
    return is_so is not False


@cache
def _list_value_conditions(table: str, version: SchemaVersion | None) -> Sequence[tuple[str, str]]:
    """Return each column of a table that has a form, with the SQL condition that its values fulfil.

    version  oldest schema version of files that may hold nulls anywhere, so that nulls are checked,
             too; None if there are no such files
    """
    missing = () if version is None else find_missing_columns(table, version)
    return tuple(_list_conditions(TABLES[table], '', asks_null=version is not None, but=missing))


def _list_conditions(
    record: type, prefix: str, *, asks_null: bool, but: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    hints = get_type_hints(record)
    for item in dataclasses.fields(record):
        hint, nullable = split_optional(hints[item.name])
        value = f'{prefix}"{item.name}"'
        law = _build_condition(item.name, hint, value, asks_null=asks_null)
        if asks_null and not nullable and item.name not in but:
            law = f'{value} IS NOT NULL AND {_make_true_for_null(law)}'
        if law is not None:
            yield item.name, law


def _make_true_for_null(law: str | None) -> str:
    """Return a condition that is true where the given one is null; `true` for None."""
    return 'true' if law is None else f'coalesce({law}, true)'


def _build_condition(name: str, hint: Any, value: str, *, asks_null: bool) -> str | None:
    """Return the SQL condition for a value of this name and type; None if every value is valid.

    A null value never breaks the condition.
    """
    if get_origin(hint) is tuple:
        law = _build_condition(name, get_args(hint)[0], 'each', asks_null=asks_null)
        if asks_null:
            law = f'each IS NOT NULL AND {_make_true_for_null(law)}'
        return law and f'len([each FOR each IN {value} IF NOT ({law})]) = 0'
    if dataclasses.is_dataclass(hint):
        inner = _list_conditions(hint, f'{value}.', asks_null=asks_null)  # type: ignore[arg-type]
        laws = ' AND '.join(_make_true_for_null(law) for _, law in inner)
        return f'({value} IS NULL OR {laws})' if laws else None
    if issubclass(hint, StrEnum):
        members = ', '.join(f"'{member}'" for member in hint)
        return f'CAST({value} AS VARCHAR) IN ({members})'
    return _build_plain_condition(name, hint, value)


def _build_plain_condition(name: str, hint: type, value: str) -> str | None:
    if hint is datetime:
        return f'{value} BETWEEN {_DATES}'
    if hint is float:
        return f'isfinite({value})'
    if hint is int:
        return f'{value} BETWEEN -1 AND {_MOST_LINES}' if name in _LINES else None
    if name in _TEXTS:
        return f"regexp_full_match({value}, '{_TEXTS[name]}')"
    if name in _PATHS:
        parts = f"string_split(lower({value}), '/')"
        return (
            f"{value} = '.' OR NOT list_has_any({parts}, {_NO_PARTS}) "
            f'AND NOT contains({value}, chr(0))'
        )
    return None


def _shorten(value: str) -> str:
    return value if len(value) <= 200 else f'{value[:199]}…'
