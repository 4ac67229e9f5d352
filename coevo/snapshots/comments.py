"""Comments on the tables and columns of an opened snapshot, which `duckdb_columns()` shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coevo.model.dictionary import map_columns_by_path
from coevo.model.schema import CONTENTS, TABLES
from coevo.snapshots.locations import quote_sql

if TYPE_CHECKING:
    import duckdb

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
