"""What the pages of `coevo show` are made of: rows of a table, aligned lines, titled blocks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Any

from coevo.display import presentation
from coevo.snapshots import snapshot

if TYPE_CHECKING:
    import duckdb

    Row = dict[str, Any]


def rows(connection: duckdb.DuckDBPyConnection, table: str, column: str, id: str) -> list[Row]:
    """The rows of a table with that value in a column, in a fixed order."""
    return asked(connection, f'FROM {table} WHERE {column} = {snapshot.quoted(id)} ORDER BY ALL')


def asked(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    found: list[Row] = json.loads(presentation.render(connection.sql(sql), 'json'))
    return found


def titled(title: str, text: str) -> str:
    return f'{title}\n{text}' if text else ''


def lines(pairs: Sequence[tuple[str, str]]) -> str:
    """What has a value, aligned."""
    return presentation.columns([(name, value) for name, value in pairs if value], [False, False])


def joined(*parts: str | None) -> str:
    return ', '.join(part for part in parts if part)


def named(row: Row) -> str:
    """A test method by its class, name and parameters."""
    return f'{row["test_class"]}#{row["test_method"]}({", ".join(row["parameters"] or ())})'
