from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow
from coevo.model.records import Drop
from coevo.model.schema import KEYS, TABLES, build_arrow_schema, build_table
from coevo.model.words import Stage
from tests import segments

GOLDEN = Path(__file__).parents[2] / 'golden'


@pytest.mark.parametrize('name', TABLES)
def test_the_columns_match_the_golden_schemas(name: str) -> None:
    """If this fails on purpose, raise SCHEMA_VERSION where readers break, and say so in CHANGELOG."""
    golden = GOLDEN / f'{name}.schema'
    assert (
        f'{build_arrow_schema(TABLES[name]).to_string(show_field_metadata=False)}\n'
        == golden.read_text()
    )


@pytest.mark.parametrize('name', TABLES)
def test_every_key_consists_of_columns_of_its_table(name: str) -> None:
    assert set(KEYS[name]) <= set(build_arrow_schema(TABLES[name]).names)


def test_rows_survive_parquet(tmp_path: Path) -> None:
    rows = segments.segment(1).methods
    written = build_table(MethodRow, rows)
    pq.write_table(written, tmp_path / 'methods.parquet')
    read = pq.read_table(tmp_path / 'methods.parquet')
    assert read.schema.equals(build_arrow_schema(MethodRow))
    assert read.equals(written)
    query = f"SELECT label, dependencies[1].revised FROM '{tmp_path}/methods.parquet'"
    assert duckdb.connect().execute(query).fetchone() == ('update', 'modified')


def test_an_empty_table_has_its_columns() -> None:
    assert build_table(CellRow, ()).schema.equals(build_arrow_schema(CellRow))


def test_a_row_of_another_table_is_refused() -> None:
    with pytest.raises(TypeError, match='CellRow cannot be a MethodRow'):
        build_table(CellRow, segments.segment(1).methods)


def test_a_null_in_a_required_column_is_refused() -> None:
    row = segments.drop(1, Stage.PAIR, None, 'gap_too_long')  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='key may not be null'):
        build_table(Drop, [row])


def test_a_path_that_is_not_utf_8_is_escaped() -> None:
    """Git allows any bytes in a path, Arrow does not: the release must not fail on one."""
    row = segments.drop(1, Stage.PAIR, b'T\xe4st'.decode(errors='surrogateescape'), 'gap_too_long')
    assert build_table(Drop, [row])['key'].to_pylist() == ['T\\udce4st']
    assert build_table(Drop, [row])['pair_id'].type == pa.string()
