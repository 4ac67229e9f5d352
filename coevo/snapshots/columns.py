"""The columns of a snapshot's files: their types are checked, and an opened snapshot comments on
them.

Files written by coevo are recognised by their Parquet schema alone. Files of other writers may have
more columns, and may hold nulls anywhere; they are accepted if coevo's columns are there. Their
values are then checked for nulls, too (`coevo.snapshots.forms`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from coevo.model.dictionary import map_columns_by_path
from coevo.model.schema import (
    CONTENTS,
    TABLES,
    SchemaVersion,
    build_arrow_schema,
    list_columns_in_files,
)
from coevo.snapshots.locations import build_parquet_source, quote_sql

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


# Check that the files of a snapshot have the columns of their tables, with the right types.


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A Parquet file of a table.

    file       the name under which the DuckDB connection reads it
    code_free  whether its columns with third-party text are null
    """

    table: str
    file: str
    version: SchemaVersion
    code_free: bool = False


# Name, physical type, repetition, number of children, converted type.
_Node = tuple[str, str | None, str | None, int | None, str | None]

_LEAVES: Mapping[str, tuple[str, str, str | None]] = {
    'string': ('VARCHAR', 'BYTE_ARRAY', 'UTF8'),
    'int64': ('BIGINT', 'INT64', None),
    'double': ('DOUBLE', 'DOUBLE', None),
    'bool': ('BOOLEAN', 'BOOLEAN', None),
    'timestamp[us, tz=UTC]': ('TIMESTAMP WITH TIME ZONE', 'INT64', 'TIMESTAMP_MICROS'),
}
"""By Arrow's name of a type: DuckDB's name, Parquet's physical type and its converted type."""


def find_foreign_files(
    connection: duckdb.DuckDBPyConnection, parts: Sequence[TableFile]
) -> tuple[TableFile, ...]:
    """Return the files of other writers: their Parquet schema is not the one that coevo writes."""
    nodes_by_file: dict[str, list[_Node]] = defaultdict(list)
    names = ', '.join(quote_sql(part.file) for part in parts)
    sql = f"""SELECT file_name, name, type, repetition_type, num_children, converted_type
        FROM parquet_schema([{names}])"""
    for file, *node in connection.execute(sql).fetchall():
        nodes_by_file[file].append((node[0], node[1], node[2], node[3], node[4]))
    return tuple(
        part for part in parts if tuple(nodes_by_file[part.file][1:]) != _list_schema_nodes(part)
    )


def describe_wrong_columns(connection: duckdb.DuckDBPyConnection, part: TableFile) -> Iterator[str]:
    """Yield a phrase for each column of a foreign file that is missing or has the wrong type."""
    rows = connection.execute(f'DESCRIBE FROM {build_parquet_source([part.file])}').fetchall()
    kinds = {name: kind.replace('"', '') for name, kind, *_ in rows}
    for field in list_columns_in_files(part.table, part.version, code_free=part.code_free):
        wanted = _to_sql_type(field.type)
        if field.name not in kinds:
            yield f'no column {field.name} in {part.table}'
        elif kinds[field.name] != wanted:
            kind = kinds[field.name]
            yield f'a column {field.name} of {part.table} that is {_shorten(kind)}, not {_shorten(wanted)}'


def build_empty_source(table: str) -> str:
    """Return a FROM source with the columns of a table and no rows.

    It stands for a table that is newer than the snapshot.
    """
    nulls = ', '.join(
        f'NULL::{_to_sql_type(field.type)} AS "{field.name}"'
        for field in build_arrow_schema(TABLES[table])
    )
    return f'(SELECT {nulls} WHERE false)'


def _list_schema_nodes(part: TableFile) -> tuple[_Node, ...]:
    return _list_table_nodes(part.table, part.version, part.code_free)


@cache
def _list_table_nodes(table: str, version: SchemaVersion, code_free: bool) -> tuple[_Node, ...]:
    fields = list_columns_in_files(table, version, code_free=code_free)
    return tuple(node for field in fields for node in _list_field_nodes(field))


def _list_field_nodes(field: pa.Field) -> Iterator[_Node]:
    """Yield the Parquet schema nodes of a column: its own, then those below it."""
    import pyarrow as pa

    repetition = 'OPTIONAL' if field.nullable else 'REQUIRED'
    if pa.types.is_list(field.type):
        yield field.name, None, repetition, 1, 'LIST'
        yield 'list', None, 'REPEATED', 1, None
        yield from _list_field_nodes(field.type.value_field)
    elif pa.types.is_struct(field.type):
        yield field.name, None, repetition, field.type.num_fields, None
        for child in field.type:
            yield from _list_field_nodes(child)
    else:
        _, physical, converted = _LEAVES[_name_plain_type(field.type)]
        yield field.name, physical, repetition, None, converted


def _to_sql_type(kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return f'{_to_sql_type(kind.value_type)}[]'
    if pa.types.is_struct(kind):
        return f'STRUCT({", ".join(f"{child.name} {_to_sql_type(child.type)}" for child in kind)})'
    return _LEAVES[_name_plain_type(kind)][0]


def _shorten(kind: str) -> str:
    return kind if len(kind) <= 60 else f'{kind[:59]}…'


def _name_plain_type(kind: pa.DataType) -> str:
    import pyarrow as pa

    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


# Comments on the tables and columns of an opened snapshot, which `duckdb_columns()` shows.

# Views that coevo adds: the table whose columns each has, and its comment.
VIEWS = {
    'standard': ('methods', 'Methods with complete evidence: what most people want.'),
    'standard_tasks': ('tasks', 'Tasks whose methods are all in `standard`.'),
    'verified': (
        'tasks',
        'Of `standard_tasks`, those that no column objects to: trivial, moved, shown, or off the focus.',
    ),
    'tam_eval': (
        'tasks',
        'Of the family `file`, the tasks that the rules of TAM-Eval leave: one for a file, ten for a repository.',
    ),
    'permissive': ('methods', 'Of `standard`, methods under a permissive licence.'),
}

_SNAPSHOT = 'The month of the snapshot that the row is of, as `YYYY-MM`.'


def may_show_comments(sql: str) -> bool:
    """Return whether a query can show comments: it must call a function like `duckdb_columns`."""
    return 'duckdb_' in sql.lower()


def add_comments(connection: duckdb.DuckDBPyConnection) -> None:
    """Add comments to all views of the connection, and to their columns."""
    sql = 'SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal'
    names_by_view: dict[str, list[str]] = {}
    for view, column in connection.execute(sql).fetchall():
        names_by_view.setdefault(view, []).append(column)
    connection.execute(';\n'.join(_build_statements(names_by_view)))


def _build_statements(found: dict[str, list[str]]) -> Iterator[str]:
    for view, names in found.items():
        table, sentence = VIEWS.get(view, (view, CONTENTS.get(view)))
        if table not in TABLES or sentence is None:
            continue
        yield f'COMMENT ON VIEW {view} IS {quote_sql(sentence)}'
        known = map_columns_by_path(TABLES[table])
        for name in names:
            text = known[name].text if name in known else _SNAPSHOT if name == 'snapshot' else None
            if text is not None:
                yield f'COMMENT ON COLUMN {view}."{name}" IS {quote_sql(text)}'
