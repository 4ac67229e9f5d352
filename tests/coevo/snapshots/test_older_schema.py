"""Snapshots of other minor versions of the schema: older ones lack columns, newer ones have more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coevo
from coevo.model import schema
from coevo.model.errors import Damaged
from coevo.model.errors import Fatal
from coevo.model.schema import ADDED
from coevo.model.schema import TABLES
from coevo.model.schema import Added
from coevo.model.schema import arrow_schema
from coevo.snapshots import columns
from coevo.snapshots import statistics
from coevo.snapshots.verification import verify
from coevo.storage.store import Store
from packagers import manifests
from tests import segments
from tests import snapshots
from tests.coevo.snapshots.test_verification import reseal

NOW = schema.SCHEMA_MINOR

ROWS = 'data/repositories/part-0.parquet'


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that gained two columns with its last minor version."""
    monkeypatch.setattr(schema, 'SCHEMA_MINOR', NOW)
    monkeypatch.setattr(manifests, 'SCHEMA_MINOR', NOW)
    sizes = {name: Added(minor=NOW, sql_type='BIGINT') for name in ('source_files', 'source_lines')}
    monkeypatch.setitem(ADDED, 'repositories', sizes)
    _forget()


@pytest.fixture
def first(snapshot: Path, later: None) -> Iterator[Path]:
    """As it was before the first minor version: without what was added, and without its number."""
    for table, added in ADDED.items():
        for file in (snapshot / 'data' / table).iterdir():
            pq.write_table(pq.read_table(file).drop_columns(list(added)), file)
    name(snapshot, None)
    yield snapshot
    _forget()


def _forget() -> None:
    columns._fields.cache_clear()
    columns._nodes_of_table.cache_clear()


def name(snapshot: Path, minor: Any) -> None:
    """Let the manifest name a minor version, and fit what the files say now."""
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest.pop('schema_minor')
    if minor is not None:
        manifest['schema_minor'] = minor
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    reseal(snapshot)


def test_what_was_added_are_columns_that_may_be_null() -> None:
    for table, those in ADDED.items():
        for column, added in those.items():
            assert arrow_schema(TABLES[table]).field(column).nullable
            assert 1 <= added.minor <= schema.SCHEMA_MINOR


def test_an_older_one_is_good_and_can_be_asked_everything(first: Path) -> None:
    assert verify(first) == []
    connection = coevo.open(first)
    assert connection.execute('SELECT source_files, source_lines FROM repositories').fetchall() == [
        (None, None)
    ]
    for statistic in statistics.STATISTICS:
        statistics.answer(connection, statistic)


def test_months_of_both_can_be_asked_at_once(first: Path, made: Path, tmp_path: Path) -> None:
    now = Path(shutil.copytree(made, tmp_path / 'now'))
    name(now, NOW)
    sql = 'SELECT source_files FROM repositories ORDER BY ALL'
    assert coevo.open(first, now).execute(sql).fetchall() == [(3,), (None,)]


def test_a_release_may_follow_an_older_one(first: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    report = snapshots.write(store, tmp_path / 'next', month='2024-02', previous=first)
    assert (report.new, report.withdrawn) == (0, 2)


def test_one_that_lacks_what_its_version_has_is_not_good(first: Path) -> None:
    manifest = json.loads((first / 'manifest.json').read_bytes())
    manifest['schema_minor'] = NOW
    (first / 'manifest.json').write_text(json.dumps(manifest))
    assert {(one.table, one.rule) for one in verify(first)} == {(name, 'schema') for name in ADDED}


@pytest.mark.parametrize(
    ('minor', 'good'), [(schema.SCHEMA_MINOR + 1, True), (schema.SCHEMA_MINOR, False)]
)
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


def test_one_of_before_the_names_of_now_says_what_to_do(snapshot: Path) -> None:
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest['schema_version'] = 1
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    with pytest.raises(Fatal, match=r'is of schema 1, .*: release it again from its store'):
        coevo.open(snapshot)
