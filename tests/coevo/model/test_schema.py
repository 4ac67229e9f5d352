from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.model.drops import Drop
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow
from coevo.model.schema import KEYS
from coevo.model.schema import TABLES
from coevo.model.schema import arrow_schema
from coevo.model.schema import table
from coevo.model.words import Stage
from tests import segments

GOLDEN = Path(__file__).parents[2] / 'golden'


@pytest.mark.parametrize('name', TABLES)
def test_the_columns_are_those_that_readers_depend_on(name: str) -> None:
    """If this fails on purpose, raise SCHEMA_VERSION where readers break, and say so in CHANGELOG."""
    golden = GOLDEN / f'{name}.schema'
    assert (
        f'{arrow_schema(TABLES[name]).to_string(show_field_metadata=False)}\n' == golden.read_text()
    )


@pytest.mark.parametrize('name', TABLES)
def test_keys_are_columns(name: str) -> None:
    assert set(KEYS[name]) <= set(arrow_schema(TABLES[name]).names)


def test_rows_survive_parquet(tmp_path: Path) -> None:
    rows = segments.segment(1).methods
    written = table(MethodRow, rows)
    pq.write_table(written, tmp_path / 'methods.parquet')
    read = pq.read_table(tmp_path / 'methods.parquet')
    assert read.schema.equals(arrow_schema(MethodRow))
    assert read.equals(written)
    query = f"SELECT label, dependencies[1].revised FROM '{tmp_path}/methods.parquet'"
    assert duckdb.connect().execute(query).fetchone() == ('update', 'modified')


def test_an_empty_table_has_its_columns() -> None:
    assert table(CellRow, ()).schema.equals(arrow_schema(CellRow))


def test_a_row_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match='CellRow cannot be a MethodRow'):
        table(CellRow, segments.segment(1).methods)


def test_a_null_where_none_may_be_is_refused() -> None:
    row = segments.drop(1, Stage.PAIR, None, 'gap_too_long')  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='key may not be null'):
        table(Drop, [row])


def test_a_path_that_is_no_utf_8_is_escaped() -> None:
    """Git allows any bytes in a path, Arrow does not: the release must not fail on one."""
    row = segments.drop(1, Stage.PAIR, b'T\xe4st'.decode(errors='surrogateescape'), 'gap_too_long')
    assert table(Drop, [row])['key'].to_pylist() == ['T\\udce4st']
    assert table(Drop, [row])['pair_id'].type == pa.string()
