"""Snapshots of other minor versions of the schema: older ones lack columns, newer ones have more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coevo
from coevo.model import schema
from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import ADDED, TABLES, AddedColumn, SchemaVersion, build_arrow_schema
from coevo.snapshots import columns, statistics
from coevo.snapshots.snapshot import open_snapshots
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from tests import segments, snapshots
from tests.coevo.snapshots.older_schemas import LAST_OF_2, set_version, write_as_schema_2

NOW = schema.SCHEMA

ROWS = 'data/repositories/part-0.parquet'


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that gained two columns with its last version."""
    sizes = {
        name: AddedColumn(version=NOW, sql_type='BIGINT')
        for name in ('source_files', 'source_lines')
    }
    monkeypatch.setitem(ADDED, 'repositories', sizes)
    _forget()


@pytest.fixture
def first(snapshot: Path, later: None) -> Iterator[Path]:
    """As it was in schema 2.0: under the names of then, and without what was added since."""
    write_as_schema_2(snapshot, SchemaVersion(2, 0))
    yield snapshot
    _forget()


def _forget() -> None:
    columns._list_table_nodes.cache_clear()


def test_columns_added_since_schema_2_are_nullable() -> None:
    for table, those in ADDED.items():
        for column, added in those.items():
            # whether texts are withheld follows from an older snapshot's texts
            is_derived = column == TEXTS_WITHHELD
            assert build_arrow_schema(TABLES[table]).field(column).nullable or is_derived
            assert (2, 1) <= added.version <= NOW


@pytest.mark.slow
def test_a_snapshot_of_an_older_schema_is_good_and_answers_all_statistics(first: Path) -> None:
    assert verify_snapshot(first) == []
    connection = open_snapshots(first)
    assert connection.execute('SELECT source_files, source_lines FROM repositories').fetchall() == [
        (None, None)
    ]
    for statistic in statistics.STATISTICS:
        statistics.run_statistic(connection, statistic)


def test_snapshots_of_older_and_current_schema_can_be_queried_together(
    first: Path, made: Path, tmp_path: Path
) -> None:
    now = Path(shutil.copytree(made, tmp_path / 'now'))
    set_version(now, NOW)
    sql = 'SELECT source_files FROM repositories ORDER BY ALL'
    assert coevo.open(first, now).execute(sql).fetchall() == [(3,), (None,)]


def test_a_release_may_follow_a_snapshot_of_an_older_schema(first: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    report = snapshots.write(store, tmp_path / 'next', month='2024-02', previous=first)
    assert (report.new, report.withdrawn) == (0, 2)


def test_a_snapshot_without_columns_of_its_version_fails_verification(first: Path) -> None:
    set_version(first, LAST_OF_2)
    faults = {(finding.table, finding.rule) for finding in verify_snapshot(first)}
    expected = {
        table
        for table, added in ADDED.items()
        if table != 'repositories' and any(one.version <= LAST_OF_2 for one in added.values())
    }
    assert faults == {(table, 'schema') for table in expected}


@pytest.mark.parametrize(('minor', 'good'), [(NOW.minor + 1, True), (NOW.minor, False)])
def test_only_a_snapshot_of_a_newer_schema_may_have_more_columns(
    snapshot: Path, minor: int, good: bool
) -> None:
    rows = pq.read_table(snapshot / ROWS)
    pq.write_table(rows.append_column('later', pa.array(['x'])), snapshot / ROWS)
    set_version(snapshot, (NOW.major, minor))
    found = [(one.table, one.rule) for one in verify_snapshot(snapshot)]
    assert found == ([] if good else [('repositories', 'schema')])
    assert open_snapshots(snapshot).execute('SELECT count(*) FROM repositories').fetchone() == (1,)


def test_a_schema_version_that_is_no_number_is_damage(snapshot: Path) -> None:
    set_version(snapshot, (3, 'one'))
    with pytest.raises(DamagedSnapshot, match='is damaged'):
        verify_snapshot(snapshot)


def test_a_snapshot_of_schema_1_is_refused_with_advice(snapshot: Path) -> None:
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest['schema_version'] = 1
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    with pytest.raises(Fatal, match=r'is of schema 1, which coevo no longer reads: mine'):
        coevo.open(snapshot)
