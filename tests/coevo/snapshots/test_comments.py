"""What DuckDB says of the columns of an opened snapshot."""

from __future__ import annotations

from pathlib import Path

import coevo


def test_every_column_of_every_view_has_a_comment(made: Path, snapshot: Path) -> None:
    sql = 'SELECT table_name, column_name FROM duckdb_columns() WHERE comment IS NULL AND NOT internal'
    for connection in (coevo.open(made), coevo.open(made, snapshot)):
        assert connection.execute(sql).fetchall() == []
        views = 'SELECT view_name FROM duckdb_views() WHERE comment IS NULL AND NOT internal'
        assert connection.execute(views).fetchall() == []


def test_a_column_comment_has_unit_and_values(made: Path) -> None:
    sql = """SELECT comment FROM duckdb_columns() WHERE table_name = 'pairs'
        AND column_name IN ('gap_hours', 'walk') ORDER BY column_name"""
    (gap,), (walk,) = coevo.open(made).execute(sql).fetchall()
    assert gap.endswith('Unit: hours.')
    assert '`first-parent`: ' in walk
