"""Snapshots of other minor versions of the schema: older ones lack columns, newer ones have more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coevo
from coevo.model.errors import Damaged
from coevo.model.schema import ADDED
from coevo.model.schema import SCHEMA_MINOR
from coevo.model.schema import TABLES
from coevo.model.schema import arrow_schema
from coevo.snapshots import statistics
from coevo.snapshots.verification import verify
from coevo.storage.store import Store
from tests import segments
from tests import snapshots
from tests.coevo.snapshots.test_verification import reseal

ROWS = 'data/repositories/part-0.parquet'


@pytest.fixture
def first(snapshot: Path) -> Path:
    """As the first minor version wrote it: without what was added, and without its number."""
    for table, columns in ADDED.items():
        for file in (snapshot / 'data' / table).iterdir():
            pq.write_table(pq.read_table(file).drop_columns(list(columns)), file)
    name(snapshot, None)
    return snapshot


def name(snapshot: Path, minor: Any) -> None:
    """Let the manifest name a minor version, and fit what the files say now."""
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest.pop('schema_minor')
    if minor is not None:
        manifest['schema_minor'] = minor
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    reseal(snapshot)


def test_what_was_added_are_columns_that_may_be_null() -> None:
    for table, columns in ADDED.items():
        for column, added in columns.items():
            assert arrow_schema(TABLES[table]).field(column).nullable
            assert 1 <= added.minor <= SCHEMA_MINOR


def test_an_older_one_is_good_and_can_be_asked_everything(first: Path) -> None:
    assert verify(first) == []
    connection = coevo.open(first)
    assert connection.execute('SELECT java_files, java_lines FROM repositories').fetchall() == [
        (None, None)
    ]
    for statistic in statistics.STATISTICS:
        statistics.answer(connection, statistic)


def test_months_of_both_can_be_asked_at_once(first: Path, made: Path) -> None:
    sql = 'SELECT java_files FROM repositories ORDER BY ALL'
    assert coevo.open(first, made).execute(sql).fetchall() == [(3,), (None,)]


def test_a_release_may_follow_an_older_one(first: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    report = snapshots.write(store, tmp_path / 'next', month='2024-02', previous=first)
    assert (report.new, report.withdrawn) == (0, 2)


def test_one_that_lacks_what_its_version_has_is_not_good(first: Path) -> None:
    manifest = json.loads((first / 'manifest.json').read_bytes())
    manifest['schema_minor'] = SCHEMA_MINOR
    (first / 'manifest.json').write_text(json.dumps(manifest))
    assert {(one.table, one.rule) for one in verify(first)} == {(name, 'schema') for name in ADDED}


@pytest.mark.parametrize(('minor', 'good'), [(SCHEMA_MINOR + 1, True), (SCHEMA_MINOR, False)])
def test_only_a_newer_one_may_have_more_columns(snapshot: Path, minor: int, good: bool) -> None:
    rows = pq.read_table(snapshot / ROWS)
    pq.write_table(rows.append_column('later', pa.array(['x'])), snapshot / ROWS)
    name(snapshot, minor)
    found = [(one.table, one.rule) for one in verify(snapshot)]
    assert found == ([] if good else [('repositories', 'schema')])
    assert coevo.open(snapshot).execute('SELECT count(*) FROM repositories').fetchone() == (1,)


def test_a_version_that_is_no_number_is_damage(snapshot: Path) -> None:
    name(snapshot, 'one')
    with pytest.raises(Damaged, match='is damaged'):
        verify(snapshot)
