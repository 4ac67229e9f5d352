"""Building blocks for the pages of `coevo show`: rows of a table, aligned lines, titled blocks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coevo.display import presentation
from coevo.snapshots import snapshot

if TYPE_CHECKING:
    import duckdb

    Row = dict[str, Any]


def load_rows_with_value(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, id: str
) -> list[Row]:
    """Return the rows of a table with this value in a column, in a fixed order."""
    return query_rows(
        connection, f'FROM {table} WHERE {column} = {snapshot.quote_sql(id)} ORDER BY ALL'
    )


def query_rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    """Return the rows of a query as dictionaries of plain JSON values."""
    result: list[Row] = json.loads(presentation.render_answer(connection.sql(sql), 'json'))
    return result


def format_titled(title: str, text: str) -> str:
    """Return the text below its title; empty if there is no text."""
    return f'{title}\n{text}' if text else ''


def align_lines(pairs: Sequence[tuple[str, str]]) -> str:
    """Return aligned lines of names and values; omits empty values."""
    return presentation.align_columns(
        [(name, value) for name, value in pairs if value], [False, False]
    )


def join_parts(*parts: str | None) -> str:
    """Return the parts that are not empty, separated by commas."""
    return ', '.join(part for part in parts if part)


def format_method_name(row: Row) -> str:
    """Return a test method as class, name and parameters."""
    return f'{row["test_class"]}#{row["test_method"]}({", ".join(row["parameters"] or ())})'
