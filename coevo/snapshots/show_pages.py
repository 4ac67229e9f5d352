"""Building blocks for the pages of `coevo show`, and the pages for rows that left the funnel."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from coevo.display import presentation
from coevo.model.reasons import explain_reason
from coevo.model.words import Stage
from coevo.snapshots import snapshot

if TYPE_CHECKING:
    import duckdb

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


# Most rows shown for one reason; a sample may leave out thousands of tests of a pair.
_MOST = 20


def render_drops(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Return a text for each walk under which a commit, pair, method or task left the funnel.

    Empty if nothing with this key did.
    """
    return [_render_drop(id, row) for row in load_rows_with_value(connection, 'drops', 'key', id)]


def _render_drop(id: str, row: Row) -> str:
    stage = Stage(row['stage'])
    return align_lines(
        [
            (row['unit'], f'{id}: left at stage {stage}, {stage.clause}'),
            ('test', format_method_name(row) if row['test_method'] else ''),
            ('test file', row['test_file'] or ''),
            ('change', row['change'] or ''),
            ('repository', row['repo']),
            ('pair', join_parts(row['pair_id'], row['walk'])),
            ('because', next(explain_reasons([row]))),
        ]
    )


def explain_reasons(drops: Sequence[Row]) -> Iterator[str]:
    """Yield each reason as a sentence, once even if several walks have it."""
    for reason, detail in dict.fromkeys((row['reason'], row['detail']) for row in drops):
        yield f'{explain_reason(reason)}{f": {detail}" if detail else ""}'


def render_by_reason(drops: Sequence[Row]) -> str:
    """Return the dropped rows below a sentence for each reason, the most frequent reason first."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in drops:
        groups[row['stage'], row['reason']].append(row)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return '\n'.join(line for (_, reason), rows in ordered for line in _render_group(reason, rows))


def _render_group(reason: str, rows: Sequence[Row]) -> Iterator[str]:
    yield f'{len(rows):>5}  {explain_reason(reason)}'
    for row in rows[:_MOST]:
        what = format_method_name(row) if row['test_method'] else row['test_file'] or ''
        yield f'       {join_parts(row["key"], row["change"], what, row["detail"])}'
    if len(rows) > _MOST:
        yield f'       and {len(rows) - _MOST} more'
