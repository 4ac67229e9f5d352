"""Scripts that know the names of schema 2 can still read what is released now."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from benchmarks.schema_2 import main
from coevo.model.errors import Fatal


def test_tables_are_written_with_schema_2_names(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(made), str(tmp_path / 'old')]) == 0
    assert 'standing' in capsys.readouterr().out
    sql = f"""SELECT label, told_cold, tnew_cnew, told_cnew, tnew_cold_runs
        FROM '{tmp_path}/old/data/methods/*.parquet' ORDER BY ALL LIMIT 1"""
    assert duckdb.sql(sql).fetchall() == [('generation', None, 'pass', None, 1)]
    cells = duckdb.sql(f"SELECT DISTINCT cell FROM '{tmp_path}/old/data/cells/*.parquet'")
    assert {cell for (cell,) in cells.fetchall()} <= {
        'told_cold',
        'tnew_cnew',
        'told_cnew',
        'tnew_cold',
    }


def test_existing_output_folder_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='already exists; name a new folder'):
        main([str(made), str(tmp_path)])
