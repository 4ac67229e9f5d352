"""A method of a task is clean, or within a period, only together with its task."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from coevo.model.errors import Fatal
from coevo.snapshots import query
from coevo.snapshots.cutoffs import MACROS, Cutoff

EARLY, LATE = datetime(2022, 9, 11, tzinfo=UTC), datetime(2026, 7, 24, tzinfo=UTC)


@pytest.fixture
def tables() -> duckdb.DuckDBPyConnection:
    """Two tasks: the first was public early by one of its methods; and a method without a task."""
    connection = duckdb.connect()
    connection.execute(
        'CREATE TABLE methods (method_id VARCHAR, task_id VARCHAR, contamination_date TIMESTAMPTZ, '
        'leak DOUBLE, track VARCHAR); '
        'CREATE TABLE tasks (task_id VARCHAR, contamination_date TIMESTAMPTZ, track VARCHAR)'
    )
    rows = [
        ('early', 'mixed', EARLY),
        ('late', 'mixed', LATE),
        ('new', 'new', LATE),
        ('none', None, LATE),
    ]
    for method, task, date in rows:
        connection.execute('INSERT INTO methods VALUES (?, ?, ?, 0, NULL)', [method, task, date])
    for task, date in (('mixed', EARLY), ('new', LATE)):
        connection.execute('INSERT INTO tasks VALUES (?, ?, NULL)', [task, date])
    return connection


def list_methods(tables: duckdb.DuckDBPyConnection, source: str) -> list[str]:
    rows = tables.execute(f'SELECT method_id FROM {source} ORDER BY 1').fetchall()
    return [method for (method,) in rows]


def test_clean_method_of_a_task_that_was_public_early_is_not_clean(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    for macro in MACROS:
        tables.execute(macro)
    assert list_methods(tables, "clean('2025-06')") == ['new', 'none']
    assert list_methods(tables, "clean('2022-08')") == ['early', 'late', 'new', 'none']


@pytest.mark.parametrize(
    ('cutoff', 'kept'),
    [
        (Cutoff(date='2025-06'), ['new', 'none']),
        (Cutoff(before='2025-06'), ['early']),
        (Cutoff(date='2022-08', before='2026-08'), ['early', 'late', 'new', 'none']),
    ],
)
def test_period_keeps_methods_with_their_task_alone(
    tables: duckdb.DuckDBPyConnection, cutoff: Cutoff, kept: list[str]
) -> None:
    conditions = dict(query.build_view_conditions(cutoff))
    assert [*conditions][:2] == ['tasks', 'methods']
    tables.execute('CREATE SCHEMA kept')
    for name in ('tasks', 'methods'):
        where = conditions[name].replace('FROM tasks', 'FROM kept.tasks')
        tables.execute(f'CREATE VIEW kept.{name} AS SELECT * FROM main.{name} WHERE {where}')
    assert list_methods(tables, 'kept.methods') == kept


def test_cutoff_that_is_a_year_is_refused(tables: duckdb.DuckDBPyConnection) -> None:
    for macro in MACROS:
        tables.execute(macro)
    with pytest.raises(duckdb.Error, match='a cutoff is a day, 2024-06-30, or a month, 2024-06'):
        list_methods(tables, "clean('2025')")


def test_empty_period_is_refused() -> None:
    with pytest.raises(Fatal, match='no day is after 2026-06 and before 2026-01'):
        dict(query.build_view_conditions(Cutoff(date='2026-06', before='2026-01')))
