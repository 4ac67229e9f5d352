"""Assertions of target tests, counted by hand in all three languages."""

from __future__ import annotations

import duckdb

from coevo.snapshots.statistics import list_assertion_densities_by_language

TEXTS = {
    'go': 'func TestA(t *testing.T) {\n\n\tif add(1) != 2 {\n\t\tt.Fatal("no")\n\t}\n}',
    'java': '@Test void a() {\n  assertEquals(1, f());\n  assertTrue(g());\n}',
    'python': 'def test_a():\n    assert f() == 1\n    f()\n',
    'unheard-of': 'assert',
}


def test_assertions_are_counted_per_test_and_per_line_of_targets_alone() -> None:
    connection = duckdb.connect()
    connection.execute('CREATE TABLE methods (language TEXT, method_id TEXT, new_source TEXT)')
    connection.executemany(
        'INSERT INTO methods VALUES (?, ?, ?)',
        [
            *((language, language, text) for language, text in TEXTS.items()),
            ('python', 'second', 'def test_b():\n    f()\n'),
            ('python', 'no target', 'def test_c():\n    assert f()\n'),
            ('java', 'withheld', None),
        ],
    )
    targets = [*TEXTS, 'second', 'withheld']
    connection.execute('CREATE TABLE tasks AS SELECT ?::TEXT[] AS method_ids', [targets])
    assert list(list_assertion_densities_by_language(connection)) == [
        ('go', 1, 1, 5, 1.0, 0.2, 0),
        ('java', 1, 2, 4, 2.0, 0.5, 0),
        ('python', 2, 1, 5, 0.5, 0.2, 1),
    ]
