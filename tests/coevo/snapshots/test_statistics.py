"""The paper's statistics, by plain DuckDB on the snapshot's files, and counted by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import duckdb
import pytest

from coevo.model.schema import TABLES
from coevo.snapshots.snapshot import open_snapshots
from coevo.snapshots.statistics import STATISTICS, VERIFIED, run_statistic
from coevo.storage.store import Store
from packagers.funnel import compute_funnel
from packagers.rows import gather_rows
from tests import segments, snapshots
from tests.packagers import sites


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sites.make(tmp_path_factory.mktemp('statistics'))


def asked(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[Any, ...]]:
    (statistic,) = (each for each in STATISTICS if each.name == name)
    return list(map(tuple, run_statistic(connection, statistic).rows))


def plain(snapshot: Path) -> duckdb.DuckDBPyConnection:
    """What anybody can write: a view for each table, and nothing of ours."""
    connection = duckdb.connect()
    for name in TABLES:
        files = f"'{snapshot}/data/{name}/*.parquet'"
        connection.execute(f'CREATE VIEW {name} AS SELECT * FROM read_parquet({files})')
    return connection


@pytest.mark.parametrize('zone', ['UTC', 'Pacific/Auckland'])
def test_plain_duckdb_gives_the_same_answers_in_any_time_zone(snapshot: Path, zone: str) -> None:
    ours, theirs = open_snapshots(snapshot), plain(snapshot)
    theirs.execute(f"SET TimeZone = '{zone}'")
    for statistic in STATISTICS:
        found = run_statistic(theirs, statistic)
        assert found == run_statistic(ours, statistic), statistic.name
        assert found.rows or statistic.name == 'classes', statistic.name  # it has none of `class`


def test_table_1_counts_methods_dependencies_and_tokens_of_tasks(tmp_path: Path) -> None:
    """Two updates of one task, which depends on a method and on the rest of a type."""
    store = Store(tmp_path / 'store')
    one = segments.segment(1, key='key-1')
    update, _, generation = one.methods
    text = 'void a() {\n  is(1, x_2.y());\n}'  # void, a, (), {, is, (, 1, the comma, x_2, ., y, ());, }
    (dependency,) = update.dependencies
    dependencies = (
        dataclasses.replace(dependency, name='ferry.Fare#of(int)'),
        dataclasses.replace(dependency, name='ferry.Fare', rank=2),
    )
    second = segments.method(1, 'second', update.change, segments.UPDATE)
    methods = (
        dataclasses.replace(update, old_source='', new_source=text, dependencies=dependencies),
        dataclasses.replace(second, old_source=text, new_source=text, dependencies=dependencies),
        generation,
    )
    with store.lock_partition(segments.PARTITION):
        store.merge_walk_into_stored(segments.PARTITION, segments.walk(1))
        store.write_segment_unless_intact(
            segments.PARTITION, dataclasses.replace(one, methods=methods)
        )
        store.compact_segments(segments.PARTITION)
    snapshots.write_unverified(store, tmp_path / 'snapshot', '2024-02')
    assert asked(open_snapshots(tmp_path / 'snapshot'), 'table_1') == [
        ('parents', 'generation', 1, 1, 1.0, 0.0, 9, 6),
        ('parents', 'update', 1, 1, 2.0, 1.0, 3 * 13, 6),
    ]


def test_figure_2_counts_tasks_by_half_year_and_groups_older_tasks(snapshot: Path) -> None:
    rows = asked(open_snapshots(snapshot), 'figure_2')
    assert sum(tasks for *_, tasks in rows) == 32
    # Pairs are 200 days apart: the first two end in 2013 and 2014.
    assert rows[:4] == [
        ('parents', 'Older', 'generation', 2),
        ('parents', 'Older', 'update', 2),
        ('parents', '2015 H1', 'generation', 1),
        ('parents', '2015 H1', 'update', 1),
    ]
    names = [half_year for _, half_year, _, _ in rows]
    assert names[2:] == sorted(names[2:])
    assert names[-1] == '2022 H1'


def test_table_4_takes_means_over_methods_that_have_mutants(snapshot: Path) -> None:
    """Each target has three mutants, of which two are killed."""
    assert asked(open_snapshots(snapshot), 'table_4') == [
        ('parents', track, 16, 16, 16, 1.0, 3.0, 2.0, 0.667, 0)
        for track in ('generation', 'update')
    ]


def test_table_5_takes_means_over_repositories(snapshot: Path) -> None:
    assert asked(open_snapshots(snapshot), 'table_5') == [
        ('parents', 'repositories', 2.0),
        ('parents', 'source files (mean)', 3.0),
        ('parents', 'source lines (mean)', 40.0),
        ('parents', 'commits (mean)', 8.0),
        ('parents', 'tasks (mean)', 16.0),
        ('parents', 'test methods of a task (mean)', 1.0),
    ]


def test_the_funnel_statistic_matches_the_funnel_of_the_card(snapshot: Path) -> None:
    rows = gather_rows(Store(snapshot.parent / 'store'))
    connection = open_snapshots(snapshot)
    tasks = len(connection.sql('FROM tasks').fetchall())
    found: dict[str, list[Any]] = {}
    for stage, unit, entered, kept, reason, dropped in asked(connection, 'funnel'):
        entry = found.setdefault(stage, [unit, entered, kept])
        if reason is not None:
            entry.append((reason, dropped))
    expected = {
        step.stage.value: [step.stage.unit, step.entered, step.kept_count, *step.dropped]
        for step in compute_funnel(rows)
    }
    expected['task'] = ['task', tasks, tasks]  # which a release alone makes
    assert found == expected


def test_table_of_families_by_language_counts_absent_starts_as_0_and_leaves_out_the_unknown() -> (
    None
):
    connection = duckdb.connect()
    connection.execute(
        """CREATE TABLE tasks AS
        SELECT
            'single_revision' AS walk, 'file' AS family, language, repo, start_builder,
            [{'start_line': 1, 'end_line': focal}] AS focus,
            {'tests': 2, 'covered_lines': covered, 'lines': 10, 'killed': killed, 'mutants': 4}
                AS start_adequacy,
            {'tests': 4, 'covered_lines': 10, 'lines': 10, 'killed': 4, 'mutants': 4}
                AS gold_adequacy
        FROM (VALUES
            ('go', 'a/one', 'absent', 20, NULL, NULL),
            ('go', 'a/one', 'as_is', 40, 5, NULL),
            ('java', 'b/two', 'as_is', 60, 10, 2)
        ) AS rows (language, repo, start_builder, focal, covered, killed)
        UNION ALL BY NAME
        SELECT 'parents' AS walk, 'java' AS language, 'b/two' AS repo"""
    )
    assert asked(connection, 'families_by_language') == [
        ('parents', 'coevolution', 'java', 1, 1, *[None] * 7),
        ('parents', 'coevolution', 'all', 1, 1, *[None] * 7),
        ('single_revision', 'file', 'go', 2, 1, 30.0, 1.0, 0.25, None, 4.0, 1.0, 1.0),
        ('single_revision', 'file', 'java', 1, 1, 60.0, 2.0, 1.0, 0.5, 4.0, 1.0, 1.0),
        ('single_revision', 'file', 'all', 3, 2, 40.0, 1.33, 0.5, 0.5, 4.0, 1.0, 1.0),
    ]


def test_classes_are_described_by_framework_runtime_and_lines() -> None:
    connection = duckdb.connect()
    connection.execute(
        """CREATE TABLE tasks AS
        SELECT 'class' AS family, language, repo, text IS NULL AS texts_withheld, text AS test_patch,
            {'runtime': runtime} AS environment, [{'start_line': 11, 'end_line': last}] AS focus
        FROM (VALUES
            ('java', 'a/one', '+import org.junit.jupiter.api.Test;', '17.0.9', 30),
            ('java', 'a/one', '+import org.junit.Test;', '1.8.0_392', 50),
            ('java', 'b/two', NULL, '17.0.1', 410),
            ('python', 'b/two', '+import pytest', '3.11.4', 20)
        ) AS rows (language, repo, text, runtime, last)
        UNION ALL BY NAME SELECT 'file' AS family, 'go' AS language"""
    )
    assert asked(connection, 'classes') == [
        ('java', 'test classes', '3'),
        ('java', 'repositories', '2'),
        ('java', 'lines of a class', '153 (middle half 20 to 400)'),
        ('java', 'test framework', 'JUnit 4 (33 %), JUnit 5 (33 %), unknown (33 %)'),
        ('java', 'runtime', '17 (67 %), 8 (33 %)'),
        ('python', 'test classes', '1'),
        ('python', 'repositories', '1'),
        ('python', 'lines of a class', '10 (middle half 10 to 10)'),
        ('python', 'test framework', 'pytest (100 %)'),
        ('python', 'runtime', '3.11 (100 %)'),
    ]


def test_cost_adds_up_to_the_timings_without_those_counted_twice(snapshot: Path) -> None:
    connection = open_snapshots(snapshot)
    *by_language, total = asked(connection, 'cost')
    assert [row[0] for row in (*by_language, total)] == ['java', 'all']
    ((seconds, tasks),) = connection.sql(
        "SELECT (SELECT sum(cpu_seconds) FROM timings WHERE step NOT IN ('diff', 'tests')), "
        'count(*) FROM tasks'
    ).fetchall()
    assert total[1] == tasks
    assert total[2] + total[5] == round(seconds)
    assert total[3] == round(total[2] / tasks, 1)


def test_tasks_by_language_add_up(snapshot: Path) -> None:
    rows = asked(open_snapshots(snapshot), 'by_language')
    assert all(sum(row[1:-1]) == row[-1] for row in rows)
    figure_2 = asked(open_snapshots(snapshot), 'figure_2')
    assert sum(row[-1] for row in rows) == sum(row[-1] for row in figure_2)
    assert {row[0] for row in rows} == {row[1] for row in figure_2}


def test_verified_tasks_are_counted_beside_all_that_could_be(snapshot: Path) -> None:
    connection = open_snapshots(snapshot)
    rows = [tuple(row) for row in run_statistic(connection, VERIFIED).rows]
    (total,) = (row for row in rows if row[0] == 'all')
    counts = connection.sql(
        'SELECT (SELECT count(*) FROM standard_tasks), (SELECT count(*) FROM verified)'
    ).fetchall()
    assert (total[2], total[4]) == counts[0]
    assert all(row[4] <= row[3] <= row[2] for row in rows)
    assert sum(row[2] for row in rows) == 2 * total[2]
